import { cluster } from "../../support/service/servers-under-test";
import { exampleNow } from "../../support/service/examples";

/** An upgrade that a fault comes over. */
interface KindOfUpgrade {
  readonly spec: object;
  /** The line of the simulator's ledger with which what is upgraded is in the middle of it. */
  readonly begun: string;
  /** Lines of which there has to be one for each host, node or server in the end, and no other. */
  readonly once: readonly string[];
  /** How often each host's image is applied. */
  readonly starts: readonly number[];
  readonly cluster?: string;
}

const { bundleId } = exampleNow("cluster-draft");

/** With FAIL a single attempt that a fault of the network used up would end the upgrade. */
const failure = { hostosUpgradeFailureAction: { action: "FAIL" } };
/** With settings of the cluster that have to be put back; bundles of servers take none. */
const options = { ...failure, disableHac: true };

function request(resource: string, more: object = {}, hostosUpgradeOptionsSpec: object = options) {
  const specs = [{ resourceId: cluster(resource), upgradeNow: true, hostosUpgradeOptionsSpec }];
  return { bundleId, resourceType: "CLUSTER", resourceUpgradeSpecs: specs, ...more };
}

/** A draft touches and holds nothing. */
export const draft = request("08", { draftMode: true });

export const kindsOfUpgrade = {
  image: {
    spec: request("34"),
    begun: "APPLY_STARTED",
    once: ["REMEDIATED"],
    starts: [1, 1, 1, 1],
  },
  baseline: {
    spec: request("47"),
    begun: "MAINTENANCE_REQUESTED",
    once: ["REMEDIATED", "REBOOT_REQUESTED"],
    starts: [1, 1, 1],
    cluster: "domain-c47",
  },
  netvirt: {
    spec: request("08", { bundleId: "netvirt" }, failure),
    begun: "NSX_NODE_STARTED",
    once: ["NSX_NODE_STARTED", "NSX_NODE_UPGRADED"],
    starts: [],
  },
  mgmt: {
    spec: request("08", { bundleId: "mgmt", mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] }, failure),
    begun: "MGMT_STAGE_REQUESTED",
    once: ["MGMT_STAGE_REQUESTED", "MGMT_INSTALL_REQUESTED", "MGMT_INSTALLED"],
    starts: [],
  },
} as const satisfies Record<string, KindOfUpgrade>;

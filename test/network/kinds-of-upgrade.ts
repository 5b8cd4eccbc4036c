import { cluster } from "../system/servers-under-test";
import { exampleNow } from "../system/examples";

/** An upgrade that a fault comes over. */
interface KindOfUpgrade {
  readonly spec: object;
  /** The line of the simulator's ledger with which what is upgraded is in the middle of it. */
  readonly begun: string;
  /** Lines that there has to be one of for each host, node or server in the end, and how many of these. */
  readonly once: readonly [step: string, count: number][];
  /** How often each host's image is applied. */
  readonly starts: readonly number[];
  readonly cluster?: string;
}

const { bundleId } = exampleNow("cluster-draft");

/** With FAIL a single attempt that a fault of the network used up would end the upgrade. */
const options = { disableHac: true, hostosUpgradeFailureAction: { action: "FAIL" } };

function request(resource: string, more: object = {}) {
  const specs = [{ resourceId: cluster(resource), upgradeNow: true, hostosUpgradeOptionsSpec: options }];
  return { bundleId, resourceType: "CLUSTER", resourceUpgradeSpecs: specs, ...more };
}

/** A draft touches and holds nothing. */
export const draft = request("08", { draftMode: true });

export const kindsOfUpgrade = {
  image: {
    spec: request("34"),
    begun: "APPLY_STARTED",
    once: [["REMEDIATED", 4]],
    starts: [1, 1, 1, 1],
  },
  baseline: {
    spec: request("47"),
    begun: "MAINTENANCE_REQUESTED",
    once: [
      ["REMEDIATED", 3],
      ["REBOOT_REQUESTED", 3],
    ],
    starts: [],
    cluster: "domain-c47",
  },
  netvirt: {
    spec: request("08", { bundleId: "netvirt" }),
    begun: "NSX_NODE_STARTED",
    once: [],
    starts: [],
  },
  mgmt: {
    spec: request("08", { bundleId: "mgmt", mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] }),
    begun: "MGMT_STAGE_REQUESTED",
    once: [
      ["MGMT_STAGE_REQUESTED", 1],
      ["MGMT_INSTALL_REQUESTED", 1],
    ],
    starts: [],
  },
} as const satisfies Record<string, KindOfUpgrade>;

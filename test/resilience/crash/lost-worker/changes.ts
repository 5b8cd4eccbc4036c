import type { UpgradeActivities } from "../../../../activities/contract";
import { exampleNow } from "../../../support/service/examples";
import { cluster, groups, mgmtId, netvirtId } from "../../../support/service/servers-under-test";

/** Calls of a component manager, as faults of the simulator name them. */
export interface Calls {
  readonly method?: "GET" | "POST" | "PUT";
  /** A part of path and query; of the management interface it ends with the method. */
  readonly path: string;
}

/** A kind of change, and how to have a worker ask for it again and again. */
export interface Change {
  /** What the worker does. */
  readonly name: string;
  /** The Activity that makes the change, and the id of the Workflow that runs it. */
  readonly activity: keyof UpgradeActivities;
  readonly workflow: string;
  readonly spec: object;
  readonly call: Calls;
  /** The line of the ledger after which the change is held up; from the beginning where there is none. */
  readonly from?: string;
  /** Cancels the upgrade to bring the change about, so that it ends as Cancelled. */
  readonly byCancelling?: true;
  /** The cluster on which another operation can keep the change from being made, and the line of the ledger after which it does. */
  readonly busy?: { readonly cluster: string; readonly from: string };
  /** A line of the ledger, and for how many hosts, nodes or servers a successful upgrade leaves it. */
  readonly leaves: readonly [step: string, times: number];
}

const { bundleId } = exampleNow("cluster-draft");
/** One attempt: whatever used up another would fail the upgrade. */
const failing = { hostosUpgradeFailureAction: { action: "FAIL" } };

function request(resource: string, options: object = {}, more: object = {}) {
  const hostosUpgradeOptionsSpec = { ...failing, ...options };
  const specs = [{ resourceId: cluster(resource), upgradeNow: true, hostosUpgradeOptionsSpec }];
  return { bundleId, resourceType: "CLUSTER", resourceUpgradeSpecs: specs, ...more };
}

/** One host after another, emptied and restarted by the component manager. */
const image = { spec: request("34", { disableHac: true }), workflow: `cluster/${cluster("34")}` };
/** Both hosts at once, emptied by the service: the inventory of the cells says so. */
const together = {
  spec: request("21", { disableHac: true, disableDpm: true, preRemediationPowerAction: "POWER_OFF_VMS" }),
  workflow: `cluster/${cluster("21")}`,
};
const baseline = {
  spec: request("47", { disableHac: true, preRemediationPowerAction: "POWER_OFF_VMS" }),
  workflow: `cluster/${cluster("47")}`,
};
const netvirt = {
  spec: request(
    "08",
    {},
    {
      bundleId: "netvirt",
      netvirtUpgradeUserInputSpecs: [
        {
          netvirtId,
          netvirtHostClusterUpgradeSpecs: [
            { hostClusterId: groups.mgmt, hostParallelUpgrade: true, liveUpgrade: true },
          ],
          netvirtUpgradeOptions: { isEdgeClustersUpgradeParallel: true, isHostClustersUpgradeParallel: true },
        },
      ],
    },
  ),
  workflow: `netvirt/${netvirtId}`,
};
const mgmt = (upgradeMechanism: string) => ({
  spec: request(
    "08",
    {},
    {
      bundleId: "mgmt",
      mgmtUpgradeUserInputSpecs: [{ resourceId: mgmtId, upgradeMechanism }],
    },
  ),
  workflow: `mgmt/${mgmtId}`,
});
const inPlace = mgmt("InPlace");
const migration = mgmt("ReducedDowntimeMigration");

const soap = (method: string): Calls => ({ path: `/sdk/${method}` });
const policy: Calls = { method: "PUT", path: "policies/apply" };
const hosts = { leaves: ["REMEDIATED", 2] } as const;

export const changes: readonly Change[] = [
  {
    name: "sets the remediation policy",
    activity: "putRemediationPolicy",
    call: policy,
    ...{ ...image, ...hosts },
  },
  {
    name: "commits the desired image",
    activity: "setDesiredImage",
    call: { method: "POST", path: "action=commit" },
    ...{ ...image, ...hosts },
  },
  {
    name: "makes a draft of the desired image",
    activity: "setDesiredImage",
    call: { method: "POST", path: "/software/drafts" },
    // Prechecks make drafts too.
    from: "POLICY_SET",
    ...{ ...image, ...hosts },
  },
  {
    name: "applies the image",
    activity: "remediateHosts",
    call: { method: "POST", path: "action=apply" },
    from: "IMAGE_COMMITTED",
    busy: { cluster: "domain-c34", from: "IMAGE_COMMITTED" },
    ...{ ...image, ...hosts },
  },
  {
    name: "puts the remediation policy back",
    activity: "restoreRemediationPolicy",
    call: policy,
    from: "APPLY_REQUESTED",
    ...{ ...image, ...hosts },
  },
  {
    name: "switches VMs off before hosts are remediated together",
    activity: "remediateHosts",
    call: soap("PowerOffVM_Task"),
    ...{ ...together, ...hosts },
  },
  {
    name: "puts hosts into maintenance mode that are remediated together",
    activity: "remediateHosts",
    call: soap("EnterMaintenanceMode_Task"),
    ...{ ...together, ...hosts },
  },
  {
    name: "takes hosts out of maintenance mode that were remediated together",
    activity: "remediateHosts",
    call: soap("ExitMaintenanceMode_Task"),
    from: "APPLY_REQUESTED",
    ...{ ...together, ...hosts },
  },
  {
    name: "switches HA admission control off",
    activity: "putRemediationPolicy",
    call: soap("ReconfigureComputeResource_Task"),
    ...{ ...baseline, ...hosts },
  },
  {
    name: "switches HA admission control on again",
    activity: "restoreRemediationPolicy",
    call: soap("ReconfigureComputeResource_Task"),
    from: "REBOOT_REQUESTED",
    ...{ ...baseline, ...hosts },
  },
  {
    name: "switches VMs of a host off",
    activity: "remediateHosts",
    call: soap("PowerOffVM_Task"),
    busy: { cluster: "domain-c47", from: "SETTINGS_SWITCHED_OFF" },
    ...{ ...baseline, ...hosts },
  },
  {
    name: "puts a host into maintenance mode",
    activity: "remediateHosts",
    call: soap("EnterMaintenanceMode_Task"),
    busy: { cluster: "domain-c47", from: "VM_POWER_CHANGED" },
    ...{ ...baseline, ...hosts },
  },
  {
    name: "installs a patch",
    activity: "remediateHosts",
    call: soap("InstallHostPatchV2_Task"),
    busy: { cluster: "domain-c47", from: "MAINTENANCE_ENTERED" },
    ...{ ...baseline, ...hosts },
  },
  {
    name: "restarts a host",
    activity: "remediateHosts",
    call: soap("RebootHost_Task"),
    ...{ ...baseline, ...hosts },
  },
  {
    name: "takes a host out of maintenance mode",
    activity: "remediateHosts",
    call: soap("ExitMaintenanceMode_Task"),
    ...{ ...baseline, ...hosts },
  },
  {
    name: "starts VMs of a host again",
    activity: "remediateHosts",
    call: soap("PowerOnVM_Task"),
    ...{ ...baseline, ...hosts },
  },
  {
    name: "sets the plan of NETVIRT",
    activity: "putNetvirtSettings",
    call: { method: "PUT", path: "/plan/HOST/settings" },
    leaves: ["NSX_NODE_UPGRADED", 9],
    ...netvirt,
  },
  {
    name: "sets a group of NETVIRT",
    activity: "putNetvirtSettings",
    call: { method: "PUT", path: "/upgrade-unit-groups/" },
    leaves: ["NSX_NODE_UPGRADED", 9],
    ...netvirt,
  },
  {
    name: "starts a component of NETVIRT",
    activity: "upgradeNetvirtComponent",
    call: { method: "POST", path: "/upgrade/plan?action=" },
    leaves: ["NSX_NODE_UPGRADED", 9],
    ...netvirt,
  },
  {
    name: "puts the plan of NETVIRT back",
    activity: "restoreNetvirtSettings",
    call: { method: "PUT", path: "/plan/HOST/settings" },
    from: "NSX_NODE_STARTED",
    leaves: ["NSX_NODE_UPGRADED", 9],
    ...netvirt,
  },
  {
    name: "stages an update of a management server",
    activity: "stageMgmtUpdate",
    call: { method: "POST", path: "action=stage" },
    leaves: ["MGMT_STAGED", 1],
    ...inPlace,
  },
  {
    name: "installs an update of a management server",
    activity: "installMgmtUpdate",
    call: { method: "POST", path: "action=install" },
    leaves: ["MGMT_INSTALLED", 1],
    ...inPlace,
  },
  {
    name: "specifies a migration of a management server",
    activity: "prepareMgmtMigration",
    call: { method: "PUT", path: "/migration-upgrade" },
    leaves: ["MGMT_SWITCHED_OVER", 1],
    ...migration,
  },
  {
    name: "begins a migration of a management server",
    activity: "prepareMgmtMigration",
    call: { method: "POST", path: "/migration-upgrade?action=apply" },
    leaves: ["MGMT_SWITCHED_OVER", 1],
    ...migration,
  },
  {
    name: "switches a management server over",
    activity: "switchOverMgmtMigration",
    call: { method: "POST", path: "/migration-upgrade?action=apply" },
    from: "MGMT_MIGRATION_APPLIED",
    leaves: ["MGMT_SWITCHED_OVER", 1],
    ...migration,
  },
  {
    name: "takes a migration of a management server back",
    activity: "cancelMgmtMigration",
    call: { method: "POST", path: "/migration-upgrade?action=cancel" },
    from: "MGMT_MIGRATION_APPLIED",
    leaves: ["MGMT_MIGRATION_CANCELLED", 1],
    byCancelling: true,
    ...migration,
  },
];

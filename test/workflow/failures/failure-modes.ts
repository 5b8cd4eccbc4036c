import type { ActivityLimits } from "../../../activities/activity-limits";
import type { SimulatedPlan } from "../../support/simulated-platform";

/** A row of docs/failures.md, and what its operator reads. */
export interface FailureMode {
  /** Number of the row, and what happens. */
  readonly what: string;
  readonly product: "NETVIRT" | "MGMT" | "HOSTOS";
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  readonly plan?: SimulatedPlan;
  readonly limits?: Partial<ActivityLimits>;
  /** Hosts that somebody has put into maintenance mode. */
  readonly inMaintenance?: readonly string[];
  /** The innermost SubTask that failed: its name, its failed Stage (none for a node), and its error. */
  readonly failed: { readonly name: RegExp; readonly stage?: string; readonly code: string };
  readonly message: RegExp;
  readonly remediation: RegExp;
  /** Statuses of the hosts, nodes or servers below the product; by default one failed and nothing was begun after it. */
  readonly parts: string;
  /** False where a retry cannot help. */
  readonly isRetryable?: boolean;
  /** State of the migration that is left to the operator, who cancels it before the retry; by default none is. */
  readonly migrationLeft?: string;
  /** Whether the host that failed may have the new image all the same. */
  readonly mayBeUpgraded?: boolean;
  /** A step that the simulator records in the end, beside those of the upgrade. */
  readonly finally?: string;
}

const host = /^esx-01\.example\.com$/;
const server = /vc-01/;
const oneFailed = "FAILED NOT_APPLICABLE NOT_APPLICABLE";
const times = 9;

const temporaryNetwork = {
  networkMode: "STATIC",
  ipAddress: "10.20.30.40",
  subnetMask: "255.255.255.0",
  gateway: "10.20.30.1",
} as const;
const migration: SimulatedPlan = {
  inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "ReducedDowntimeMigration", temporaryNetwork }] },
};

/** Every row that fails, in the order of the page. */
export const failureModes: readonly FailureMode[] = [
  {
    what: "1: a host stalls while it enters maintenance mode",
    product: "HOSTOS",
    faults: [{ kind: "MAINTENANCE_MODE_HANGS", host: "host-11" }],
    limits: { stall: 60 },
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_STALLED" },
    message: /esx-01\.example\.com made no progress/,
    remediation: /virtual machines/,
    parts: oneFailed,
  },
  {
    what: "1: a host cannot enter maintenance mode, and the product gives up itself",
    product: "HOSTOS",
    faults: [{ kind: "MAINTENANCE_MODE_STUCK", host: "host-11", seconds: 0.02 }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /could not enter maintenance mode: not all VMs left it/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "2: no room for the VMs while another host is in maintenance mode, which its prechecks find",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_IMPOSSIBLE", others: 1 }],
    inMaintenance: ["host-12"],
    failed: { name: /-name/, stage: "NO_HOST_IN_MAINTENANCE_MODE", code: "HOST_IN_MAINTENANCE_MODE" },
    message: /esx-02\.example\.com is in maintenance mode/,
    remediation: /prechecks/,
    parts: "",
  },
  {
    what: "3: HA admission control keeps the VMs on the host",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "ADMISSION_CONTROL" }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /HA admission control leaves too little capacity/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "3: DPM keeps the VMs on the host",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "DPM" }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /DPM keeps hosts of the cluster in standby/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "3: VMs that cannot move keep the host out of maintenance mode",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "RUNNING_VMS" }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /a VM with a connected CD-ROM or a local disk cannot move/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "4: vSAN has one host in maintenance mode at a time, and its prechecks find one",
    product: "HOSTOS",
    faults: [{ kind: "VSAN_ONE_AT_A_TIME" }],
    inMaintenance: ["host-13"],
    failed: { name: /-name/, stage: "NO_HOST_IN_MAINTENANCE_MODE", code: "HOST_IN_MAINTENANCE_MODE" },
    message: /esx-03\.example\.com is in maintenance mode/,
    remediation: /prechecks/,
    parts: "",
  },
  {
    what: "5: a remediation of several hosts stops at the first that fails; the other one of the two is upgraded",
    product: "HOSTOS",
    faults: [
      { kind: "PARALLEL_REMEDIATION_UNSUPPORTED" },
      { kind: "REMEDIATION_FAILS", host: "host-11", message: "The bootbank is full." },
    ],
    plan: { rollout: { hostsAtOnce: 2 } },
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /The bootbank is full/,
    remediation: /retry/,
    parts: "FAILED SUCCESSFUL NOT_APPLICABLE",
  },
  {
    what: "6: a host does not come back after its restart",
    product: "HOSTOS",
    faults: [{ kind: "HOST_NEVER_RECONNECTS", host: "host-11", seconds: 0.02 }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_NOT_RECONNECTED" },
    message: /esx-01\.example\.com is NOT_RESPONDING/,
    remediation: /console/,
    parts: oneFailed,
    mayBeUpgraded: true,
  },
  {
    what: "7: a host refuses the image, which its prechecks find",
    product: "HOSTOS",
    faults: [{ kind: "IMAGE_REFUSED", host: "host-11", message: "No space left on device: /altbootbank" }],
    failed: { name: /-name/, stage: "CLUSTER_HEALTH", code: "HEALTH_CHECK_ERROR" },
    message: /esx-01\.example\.com: .*No space left on device/,
    remediation: /prechecks/,
    parts: "",
  },
  {
    what: "8: hardware off the compatibility list, where that is to be enforced",
    product: "HOSTOS",
    faults: [{ kind: "HARDWARE_INCOMPATIBLE", host: "host-11" }],
    plan: { spec: { hostosUpgradeOptionsSpec: { enforceHclValidation: true } } },
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /not on the hardware compatibility list/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "9: another operation on the cluster does not end",
    product: "HOSTOS",
    faults: [{ kind: "OPERATION_IN_PROGRESS" }],
    limits: { operationBusy: 60 },
    failed: { name: host, stage: "REMEDIATE", code: "CLUSTER_BUSY" },
    message: /another operation/i,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "10: the license agreement counts as not accepted",
    product: "HOSTOS",
    faults: [{ kind: "EULA_NOT_ACCEPTED" }],
    failed: { name: host, stage: "REMEDIATE", code: "EULA_NOT_ACCEPTED" },
    message: /license agreement was not accepted/,
    remediation: /Accept the license agreement/,
    parts: oneFailed,
  },
  {
    what: "11: the clocks differ for too long",
    product: "HOSTOS",
    faults: [{ kind: "CLOCK_SKEW" }],
    limits: { outage: 60 },
    failed: { name: /-name/, stage: "COMPONENT_MANAGER_REACHABLE", code: "COMPONENT_MANAGER_CLOCK_SKEW" },
    message: /Token start date is in the future/,
    remediation: /Synchronise the clocks/,
    parts: "",
  },
  {
    what: "12: the component manager stays away",
    product: "HOSTOS",
    faults: [{ kind: "CONNECTION_DROPPED" }],
    limits: { outage: 60 },
    failed: { name: /-name/, stage: "COMPONENT_MANAGER_REACHABLE", code: "COMPONENT_MANAGER_UNREACHABLE" },
    message: /vc01/,
    remediation: /Check that the component manager is running/,
    parts: "",
  },
  {
    what: "13: the installation times out",
    product: "HOSTOS",
    faults: [{ kind: "REMEDIATION_TIMES_OUT", host: "host-11", times }],
    failed: { name: host, stage: "REMEDIATE", code: "HOST_REMEDIATION_FAILED" },
    message: /timed out/,
    remediation: /retry/,
    parts: oneFailed,
  },
  {
    what: "14: a host of NETVIRT fails and is left in NETVIRT maintenance mode",
    product: "NETVIRT",
    faults: [{ kind: "NSX_NODE_FAILS", node: "esx-02.example.com", message: "the VIBs could not be installed" }],
    failed: { name: /^esx-02\.example\.com$/, code: "NETVIRT_NODE_FAILED" },
    message: /the VIBs could not be installed/,
    remediation: /maintenance mode/,
    parts: "",
  },
  {
    what: "16: NETVIRT says for ever that it is still in progress",
    product: "NETVIRT",
    faults: [{ kind: "NSX_STILL_IN_PROGRESS" }],
    limits: { outage: 60 },
    failed: { name: /nsx-01/, stage: "NETVIRT_COMPONENTS_READY", code: "NETVIRT_STILL_IN_PROGRESS" },
    message: /in progress/,
    remediation: /retry|prechecks/,
    parts: "",
  },
  {
    what: "17: NETVIRT refuses the account",
    product: "NETVIRT",
    faults: [{ kind: "NSX_ACCOUNT_REFUSED" }],
    failed: { name: /nsx-01/, stage: "COMPONENT_MANAGER_REACHABLE", code: "AUTHORIZATION" },
    message: /answered 403/,
    remediation: /Correct the account/,
    parts: "",
  },
  {
    what: "18: a temporary address that is in use",
    product: "MGMT",
    faults: [{ kind: "MGMT_ADDRESS_CLASH" }],
    plan: migration,
    failed: { name: server, stage: "MGMT_MIGRATION_CHECK", code: "MGMT_CHECK_FAILED" },
    message: /address/,
    remediation: /./,
    parts: "",
  },
  {
    what: "18: the preparation of a migration is stuck",
    product: "MGMT",
    faults: [{ kind: "MGMT_STUCK", state: "PREPARING" }],
    limits: { mgmtStall: 100 },
    plan: migration,
    failed: { name: server, stage: "PREPARE_MIGRATION", code: "MGMT_MIGRATION_STALLED" },
    message: /PREPARING|progress/,
    remediation: /retry/,
    parts: "",
  },
  {
    what: "18: the preparation of a migration is blocked",
    product: "MGMT",
    faults: [{ kind: "MGMT_BLOCKED", state: "PREPARING" }],
    limits: { mgmtStall: 100 },
    plan: migration,
    failed: { name: server, stage: "PREPARE_MIGRATION", code: "MGMT_MIGRATION_STALLED" },
    message: /PREPARING \(BLOCKED\) and makes no progress; it was cancelled/,
    remediation: /retry/,
    parts: "",
  },
  {
    what: "18: the preparation of a migration fails",
    product: "MGMT",
    faults: [{ kind: "MGMT_MIGRATION_FAILS", state: "PREPARING", message: "There are not enough resources." }],
    plan: migration,
    failed: { name: server, stage: "PREPARE_MIGRATION", code: "MGMT_MIGRATION_FAILED" },
    message: /failed in the state PREPARING: There are not enough resources/,
    remediation: /retry/,
    parts: "",
  },
  {
    what: "18: the switchover of a migration fails",
    product: "MGMT",
    faults: [{ kind: "MGMT_MIGRATION_FAILS", state: "SWITCHOVER", message: "The network did not move." }],
    plan: migration,
    failed: { name: server, stage: "SWITCH_OVER", code: "MGMT_SWITCHOVER_FAILED" },
    message: /The switchover of management server vc-01 to 9\.0\.2\.0 has failed: The network did not move/,
    remediation: /power on the old one if it is off, cancel the migration there, then retry/,
    parts: "",
    migrationLeft: "SWITCHOVER",
  },
  {
    what: "19: an installation from which the appliance cannot recover",
    product: "MGMT",
    faults: [{ kind: "MGMT_INSTALL_FAILS" }],
    plan: { inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] } },
    failed: { name: server, stage: "INSTALL_UPDATE", code: "MGMT_INSTALL_FAILED" },
    message: /installation .*failed/,
    remediation: /backup/,
    parts: "",
    isRetryable: false,
  },
  {
    what: "19: an installation that the appliance rolls back",
    product: "MGMT",
    faults: [{ kind: "MGMT_INSTALL_ROLLS_BACK", message: "The conversion of the database failed." }],
    plan: { inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] } },
    failed: { name: server, stage: "INSTALL_UPDATE", code: "MGMT_INSTALL_ROLLED_BACK" },
    // It depends on when the appliance is looked at whether it still rolls back.
    message: /(has failed and is rolled back to|which runs) 9\.0\.0\.0: The conversion of the database failed/,
    remediation: /Wait until the appliance has rolled back, .* then start a new upgrade/,
    parts: "",
    isRetryable: false,
    finally: "MGMT_ROLLED_BACK",
  },
];

/** Rows that pass by themselves, or with what the page says to do. */
export const passingModes: readonly Pick<FailureMode, "what" | "product" | "faults" | "plan">[] = [
  {
    what: "3: HA admission control that is switched off for the upgrade",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "ADMISSION_CONTROL" }],
    plan: { spec: { hostosUpgradeOptionsSpec: { disableHac: true } } },
  },
  {
    what: "3: DPM that is switched off for the upgrade",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "DPM" }],
    plan: { spec: { hostosUpgradeOptionsSpec: { disableDpm: true } } },
  },
  {
    what: "3: VMs that cannot move and are powered off",
    product: "HOSTOS",
    faults: [{ kind: "EVACUATION_BLOCKED", by: "RUNNING_VMS" }],
    plan: { spec: { hostosUpgradeOptionsSpec: { preRemediationPowerAction: "POWER_OFF_VMS" } } },
  },
  { what: "9: an operation that ends", product: "HOSTOS", faults: [{ kind: "OPERATION_IN_PROGRESS", times: 3 }] },
  { what: "11: clocks that differ for a while", product: "HOSTOS", faults: [{ kind: "CLOCK_SKEW", times: 6 }] },
  {
    what: "12: a component manager that is away for a while",
    product: "HOSTOS",
    faults: [
      { kind: "SERVICE_UNAVAILABLE", times: 4 },
      { kind: "CONNECTION_DROPPED", method: "POST", path: "action=apply", after: true, times: 1 },
    ],
  },
  {
    what: "13: a request whose answer times out",
    product: "HOSTOS",
    faults: [{ kind: "CALL_TIMED_OUT", method: "POST", path: "action=apply", after: true, times: 1 }],
  },
  {
    what: "15: an overall status that lags, and a pause by somebody else",
    product: "NETVIRT",
    faults: [
      { kind: "NSX_STATUS_LAGS", seconds: 0.3, times: 2 },
      { kind: "NSX_PAUSED", times: 1 },
    ],
  },
  {
    what: "16: the codes for still in progress and for checks that run",
    product: "NETVIRT",
    faults: [
      { kind: "NSX_STILL_IN_PROGRESS", times: 5 },
      { kind: "NSX_PRECHECKS_RUNNING", times: 1 },
    ],
  },
  {
    what: "18: an API that is away for the switchover",
    product: "MGMT",
    faults: [{ kind: "MGMT_API_DOWN", times: 1, seconds: 1 }],
    plan: migration,
  },
];

import type { MaintenancePlace } from "../src/domain/opening";
import type { AttemptPolicy, NetvirtUpgradePlan } from "../src/domain/plan/upgrade-plan";
import type { RunAgain } from "../src/domain/task/host-remediation";
import type {
  NetvirtComponent,
  NetvirtComponentResult,
  NetvirtComponentType,
  NetvirtProgress,
} from "../src/domain/task/netvirt-upgrade";
import type { PrecheckOptions, ResourcePrechecks } from "./precheck-contract";

/** A NETVIRT instance, the version it is to be brought to, and which parts of it. */
export interface NetvirtTarget {
  readonly netvirt: Pick<NetvirtUpgradePlan, "resourceId" | "name" | "componentManagerId">;
  readonly targetVersion: string;
  readonly options: NetvirtUpgradePlan["options"];
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
}

/** How the groups of a component are upgraded, as the upgrade coordinator keeps it. */
export interface NetvirtPlanSettings {
  readonly parallel?: boolean;
  readonly pause_on_error?: boolean;
  readonly pause_after_each_group?: boolean;
}

/** What an upgrade may change of a group, with the coordinator's own field names. */
export interface NetvirtGroupSettings {
  readonly id: string;
  readonly enabled?: boolean;
  readonly parallel?: boolean;
  readonly pause_after_each_upgrade_unit?: boolean;
  readonly extended_configuration?: readonly { readonly key?: string; readonly value?: string }[];
}

/** The coordinator's plan as it was before an upgrade changed it, to be put back. Holds no secret. */
export interface NetvirtSettings {
  /** By component, of those whose settings an upgrade may change. */
  readonly plan: Readonly<Record<string, NetvirtPlanSettings>>;
  readonly groups: readonly NetvirtGroupSettings[];
}

/** A NETVIRT instance as its coordinator shows it now. */
export interface NetvirtUpgrade {
  /** In the order in which they are upgraded. */
  readonly components: readonly NetvirtComponent[];
  readonly previous: NetvirtSettings;
}

export interface UpgradeNetvirtComponentInput extends NetvirtTarget, RunAgain<NetvirtProgress> {
  readonly component: NetvirtComponentType;
  /** `maximumAttempts` counts failures that the coordinator reported, over all runs of the Activity. */
  readonly attempts: AttemptPolicy;
}

/** The Activities of NETVIRT; the rules of `UpgradeActivities` hold for them as well. */
export interface NetvirtActivities {
  /** Runs every precheck of an instance, the coordinator's own included; changes nothing. */
  runNetvirtPrechecks(target: NetvirtTarget & PrecheckOptions): Promise<ResourcePrechecks>;
  /** Components, groups and nodes, and the settings to put back: recorded before anything is changed. */
  readNetvirtUpgrade(target: NetvirtTarget): Promise<NetvirtUpgrade>;
  /** Makes the coordinator's plan what the request asks for. What it leaves open stays as in `previous`. */
  putNetvirtSettings(input: NetvirtTarget & { readonly previous: NetvirtSettings }): Promise<void>;
  /** Puts the plan back as it was read. Groups that are gone are passed over. */
  restoreNetvirtSettings(input: NetvirtTarget & { readonly previous: NetvirtSettings }): Promise<void>;
  /**
   * Upgrades one component: starts it, or attaches where it runs already, and waits until every node that is to be
   * upgraded is. Heartbeats {@link NetvirtProgress}. A cancellation pauses the coordinator and waits until it stands.
   */
  upgradeNetvirtComponent(input: UpgradeNetvirtComponentInput): Promise<NetvirtComponentResult>;
}

import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { type ErrorBody, remediationFor } from "../errors";
import type { Stage } from "../spec/task";
import type { HostosUpgradeOptionsSpec } from "../spec/upgrade-spec";

/** How hosts are remediated: the options of Spec 2.2 without the failure action, which is ours and not the product's. */
export type HostRemediationOptions = Omit<HostosUpgradeOptionsSpec, "hostosUpgradeFailureAction">;

/** A host of a cluster as its component manager lists it. `host` is the manager's own id, such as `host-12`. */
export interface ClusterHost {
  readonly host: string;
  readonly fqdn: string;
  /** HOSTOS version, such as `9.0.0-0.24755229`; empty where the manager does not know it. */
  readonly version: string;
  /** Whether the host already is what the upgrade would make it. */
  readonly atTarget: boolean;
  /** The manager's word for its connection, in lower case, such as `not_responding`; absent where it is connected. */
  readonly connection?: string;
  /** Whether it is in maintenance mode or on its way into it; absent where it is not. */
  readonly inMaintenanceMode?: true;
  /** Names of virtual machines on it that the upgrade has switched off and that do not run; absent where there are none. */
  readonly stoppedVms?: readonly string[];
}

/** What is known of one host while it is remediated, for its SubTask. */
export interface HostAttempt {
  /** Failures that the component manager reported; only these use up attempts. */
  readonly reportedFailures: number;
  /** One sentence on what happens now, for the operator. */
  readonly activity: string;
  readonly stages: readonly Stage[];
  readonly lastError?: ErrorBody;
  readonly maximumAttempts?: number;
  /** How far the component manager is with what happens now, 0 to 100. */
  readonly percent?: number;
}

/** How the upgrade of one host ended well. `stages` are final. */
export interface HostResult {
  readonly host: string;
  readonly outcome: "UPGRADED" | "ALREADY_AT_TARGET";
  readonly version: string;
  readonly stages: Stage[];
}

/** The stages of one host in their order; the `type` of each Stage. */
export const hostStages = {
  CHECK_COMPLIANCE: "Check compliance",
  REMEDIATE: "Remediate",
  RECONNECT: "Wait until connected",
  VERIFY: "Verify version and compliance",
} as const;

/** The stages of one host of a baseline-managed cluster in their order; the `type` of each Stage. */
export const baselineHostStages = {
  CHECK_VERSION: "Check version",
  CHANGE_VM_POWER: "Power off or suspend virtual machines",
  ENTER_MAINTENANCE_MODE: "Enter maintenance mode",
  INSTALL_PATCH: "Install the patch",
  REBOOT: "Restart",
  RECONNECT: "Wait until connected",
  EXIT_MAINTENANCE_MODE: "Exit maintenance mode",
  VERIFY: "Verify the version",
} as const;
export type BaselineHostStageType = keyof typeof baselineHostStages;

/** `type` of the failure of an Activity that its Worker stopped: it is run again, nothing was used up. */
export const workerShutdown = "WORKER_SHUTDOWN";

/**
 * How far a host is; each is one letter in {@link RemediationProgress}. A host that is in work is in the stage of that name;
 * the product's remediation of an image knows no stages for maintenance mode, which are part of its neighbours then.
 */
export const hostPhases = {
  WAITING: "w",
  CHECK_COMPLIANCE: "k",
  CHECK_VERSION: "v",
  CHANGE_VM_POWER: "p",
  ENTER_MAINTENANCE_MODE: "m",
  INSTALL_PATCH: "i",
  REBOOT: "b",
  /** Its remediation was asked for and refused, so that nothing of it runs. */
  REFUSED: "f",
  REMEDIATE: "r",
  RECONNECT: "c",
  VERIFY: "y",
  EXIT_MAINTENANCE_MODE: "x",
  /** Failed, and to be tried again. */
  FAILED_ONCE: "t",
  UPGRADED: "U",
  ALREADY_AT_TARGET: "A",
  FAILED: "F",
  /** Not upgraded, because the upgrade was cancelled. */
  STOPPED: "S",
  /** Not upgraded, because it was held when its turn came. */
  HELD: "H",
} as const;
export type HostPhase = keyof typeof hostPhases;

const phaseOfLetter = new Map(
  Object.entries(hostPhases).map(([phase, letter]) => [letter as string, phase as HostPhase]),
);

/** A failure that some of the hosts have in common. `hosts` are their places in the input. */
export const RemediationFailure = model(
  {
    code: t.string,
    /** What is wrong, as it goes on after the host's name. */
    what: t.string,
    /** The type of the stage in which it happened. */
    stage: t.string,
    hosts: t.array(WholeNumber),
    at: t.string,
  },
  {
    /** How the hosts were left, in whole sentences, where that is not as they were found. */
    leftBehind: t.string,
  },
);
export type RemediationFailure = t.TypeOf<typeof RemediationFailure>;

/**
 * What is known of hosts while they are remediated, one or several: the heartbeat details of `remediateHosts`. A later run
 * of the Activity starts from it, and the Task shows it. Hosts are told by their place in the input, one letter and one small
 * number each, and failures are told once for all the hosts that have them: so 96 hosts take about 700 bytes of the 4 KiB
 * that a failure of an Activity holds.
 */
export const RemediationProgress = model(
  {
    kind: OneOf("IMAGE", "BASELINE"),
    /** One sentence on what happens now, for the operator. */
    activity: t.string,
    /** A letter of {@link hostPhases} for each host. */
    phases: t.string,
    /** For each host the failures that the component manager reported; only these use up attempts (docs/spec-gaps.md). */
    failures: t.array(WholeNumber),
    /** The last failure of each host that has one. */
    failed: t.array(RemediationFailure),
    /** When this attempt began. */
    began: t.string,
    /** When the first of the hosts entered a stage in this attempt, by the type of the stage. */
    entered: t.record(t.string, t.string),
  },
  {
    /** The component manager's id of the running remediation, to attach to again. */
    remoteTask: t.string,
    /** When this attempt asked, or was about to ask, for the remediation; tells an earlier result from ours. */
    requestedAt: t.string,
    /** The cluster was healthy before anything was asked for. */
    gatePassed: t.boolean,
    /** How many reported failures each host may have in all. */
    maximumAttempts: WholeNumber,
    /** How far the component manager is with what happens now, 0 to 100. */
    percent: WholeNumber,
    /** Of a baseline-managed cluster: when the host had last started as this attempt began, to know a restart by. */
    bootTime: t.string,
    /** Places of hosts that the upgrade has asked to enter maintenance mode, or to be remediated, and not seen out of it since. */
    inMaintenanceMode: t.array(WholeNumber),
    /** Places of hosts whose virtual machines the upgrade has begun to switch off and not seen running again since. */
    vmsOff: t.array(WholeNumber),
  },
);
export type RemediationProgress = t.TypeOf<typeof RemediationProgress>;

/** How hosts ended. Every host of the input is in one of the lists, unless the gate was closed. */
export interface RemediationResult {
  readonly upgraded: readonly HostResult[];
  readonly failed: readonly FailedHost[];
  /** Ids of hosts that were not upgraded because the upgrade was cancelled. */
  readonly stopped: readonly string[];
  /** Hosts that were held before anything of them was begun; absent where there are none. */
  readonly held?: readonly HeldHost[];
  /** No host was begun: the cluster is not known to be healthy. `check`: of the component manager, which still runs. */
  readonly gateClosed?: { readonly check?: string };
}

/** A host that is held; `why` is a sentence that says who holds it. */
export interface HeldHost {
  readonly host: string;
  readonly why: string;
}

export interface FailedHost extends OutOfService {
  readonly host: string;
  readonly error: ErrorBody;
  readonly stages: Stage[];
}

/** What the upgrade itself has changed of a host and not seen put back. */
export interface OutOfService {
  readonly inMaintenanceMode?: true;
  readonly vmsOff?: true;
}

/** The same of the host at a place of the input. */
export function outOfServiceAt({ inMaintenanceMode, vmsOff }: RemediationProgress, place: number): OutOfService {
  return {
    ...(inMaintenanceMode?.includes(place) && { inMaintenanceMode: true }),
    ...(vmsOff?.includes(place) && { vmsOff: true }),
  };
}

/** The phase of the host at a place of the input. */
export function phaseOf({ phases }: RemediationProgress, place: number): HostPhase {
  return phaseOfLetter.get(phases.charAt(place)) ?? "WAITING";
}

/** The last failure of the host at a place of the input. */
export function failureAt({ failed }: RemediationProgress, place: number): RemediationFailure | undefined {
  return failed.find(({ hosts }) => hosts.includes(place));
}

/** The same as clients see it; `fqdn` is the host's name. */
export function errorAt(progress: RemediationProgress, place: number, fqdn: string): ErrorBody | undefined {
  const failure = failureAt(progress, place);
  if (!failure) return undefined;
  return {
    errorCode: failure.code,
    errorType: "FAILED_DEPENDENCY",
    message: [`Host ${fqdn} ${failure.what}`, ...(failure.leftBehind === undefined ? [] : [failure.leftBehind])].join(
      " ",
    ),
    remediationMessage: remediationFor(failure.code),
  };
}

/** Names of the stages of a host by their types, in their order. */
function stageNames(kind: RemediationProgress["kind"]): Readonly<Record<string, string>> {
  return kind === "BASELINE" ? baselineHostStages : hostStages;
}

/** The type of the stage in which a host in this phase is, and its place among the stages; undefined where it is in none. */
export function stageOfPhase(
  kind: RemediationProgress["kind"],
  phase: HostPhase,
): { readonly type: string; readonly index: number } | undefined {
  const neighbours: Partial<Record<HostPhase, HostPhase>> =
    kind === "IMAGE"
      ? { ENTER_MAINTENANCE_MODE: "REMEDIATE", REFUSED: "REMEDIATE", EXIT_MAINTENANCE_MODE: "VERIFY" }
      : {};
  const type = neighbours[phase] ?? phase;
  const index = Object.keys(stageNames(kind)).indexOf(type);
  return index < 0 ? undefined : { type, index };
}

/** The stages of a host, whose name is `fqdn`; what has just ended did so at `at`. */
export function stagesOfHost(progress: RemediationProgress, place: number, fqdn: string, at: string): Stage[] {
  const { kind, began, entered } = progress;
  const phase = phaseOf(progress, place);
  const all = Object.entries(stageNames(kind));
  const shown = phase === "ALREADY_AT_TARGET" ? all.slice(0, 1) : all;
  const hasFailed = phase === "FAILED" || phase === "FAILED_ONCE";
  const failure = hasFailed ? failureAt(progress, place) : undefined;
  const error = failure && errorAt(progress, place, fqdn);
  const hasSucceeded = phase === "UPGRADED" || phase === "ALREADY_AT_TARGET";
  const open = failure ? all.findIndex(([type]) => type === failure.stage) : stageOfPhase(kind, phase)?.index;
  const done = hasSucceeded ? shown.length : (open ?? 0);
  const endOf = (index: number) => shown.slice(index + 1, done + 1).find(([type]) => entered[type])?.[0];
  return shown.map(([type, name], i): Stage => {
    const common = { name, type, description: name };
    const creationTimestamp = (i > 0 && i <= done && entered[type]) || began;
    if (i < done) {
      const completionTimestamp = entered[endOf(i) ?? ""] ?? failure?.at ?? at;
      return { ...common, status: "SUCCESSFUL", creationTimestamp, completionTimestamp };
    }
    if (i > done || open === undefined) return { ...common, status: "PENDING", creationTimestamp };
    if (!failure || !error) return { ...common, status: "IN_PROGRESS", creationTimestamp };
    return { ...common, status: "FAILED", creationTimestamp, completionTimestamp: failure.at, errors: [error] };
  });
}

/** One of the hosts, whose name is `fqdn`, for its SubTask. */
export function attemptOfHost(progress: RemediationProgress, place: number, fqdn: string): HostAttempt {
  const { maximumAttempts, percent, phases, activity } = progress;
  const phase = phaseOf(progress, place);
  const isAlone = phases.length === 1;
  const lastError = errorAt(progress, place, fqdn);
  return {
    reportedFailures: progress.failures[place] ?? 0,
    activity: isAlone ? activity : phaseTexts[phase],
    stages: stagesOfHost(progress, place, fqdn, progress.requestedAt ?? progress.began),
    ...(maximumAttempts !== undefined && { maximumAttempts }),
    ...(percent !== undefined && (isAlone || phase === "REMEDIATE") && { percent }),
    ...(lastError && { lastError }),
  };
}

const phaseTexts: Record<HostPhase, string> = {
  WAITING: "Waiting to start.",
  CHECK_COMPLIANCE: "Comparing the host with the target image.",
  CHECK_VERSION: "Comparing the host with the target version.",
  CHANGE_VM_POWER: "Powering off or suspending virtual machines.",
  ENTER_MAINTENANCE_MODE: "Entering maintenance mode.",
  INSTALL_PATCH: "Installing the patch.",
  REBOOT: "Restarting.",
  REFUSED: "Waiting until the component manager accepts the request.",
  REMEDIATE: "Remediating the host.",
  RECONNECT: "Waiting until the host is connected and verified.",
  VERIFY: "Waiting until the host is verified.",
  EXIT_MAINTENANCE_MODE: "Exiting maintenance mode.",
  FAILED_ONCE: "Failed; retrying.",
  UPGRADED: "Upgraded.",
  ALREADY_AT_TARGET: "Already at the target.",
  FAILED: "Failed.",
  STOPPED: "Not upgraded: cancelled first.",
  HELD: "Left out: it is held.",
};

/** What a run has to know of earlier runs of its Activity, of which none has ended with a result. */
export interface RunAgain<Progress> {
  /**
   * What an earlier run knew when it was lost: attach to its remote task, keep its count. Where this is not given no run has
   * changed anything: every change is preceded by an answered heartbeat (docs/decisions/0037).
   */
  readonly resume?: Progress;
  /**
   * The upgrade was cancelled while no worker ran this Activity: bring what runs to an end as after a cancellation, start
   * nothing, and throw CancelledFailure unless the work has succeeded.
   */
  readonly stop?: true;
}

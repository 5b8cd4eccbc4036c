import { netvirtComponentOrder } from "../../src/domain/task/netvirt-upgrade";
import type { ActivityLimits } from "../activity-limits";
import type { NetvirtTarget } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { CheckFailure, UpgradeStatus } from "../drivers/nsx/nsx-models";
import { type Check, type Finding, findingsAbout, type Found } from "../prechecks/run-checks";
import { duration, type RetryPolicy } from "../retry-policy";
import { isIncluded, nameOf } from "./netvirt-settings";
import { listGroups, readNetvirtUpgrade } from "./read-netvirt-upgrade";

/** What every check of a NETVIRT instance works with. */
interface NetvirtPrecheckInput {
  readonly target: NetvirtTarget;
  readonly client: NsxClient;
  readonly retryPolicy: RetryPolicy;
  readonly limits: ActivityLimits;
  /** When the checks have to be over to be told, by the clock of the retry policy. */
  readonly deadline: number;
  /** Takes the version of the instance, from the check that reads it. */
  readonly versionsRead?: (versions: readonly string[]) => void;
}

export type NetvirtPrecheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "NETVIRT_TARGET_OFFERED"
  | "NETVIRT_COMPONENTS_READY"
  | "NETVIRT_GROUPS_KNOWN"
  | "NETVIRT_NODES_IN_SERVICE"
  | "NETVIRT_PRE_UPGRADE_CHECKS"
  | "BACKUP_RECENT"
  | "CERTIFICATES_VALID"
  | "CLOCKS_IN_SYNC"
  | "DISK_SPACE";

/** One condition that must hold before a NETVIRT instance is touched. */
export type NetvirtPrecheck = Check<NetvirtPrecheckType, NetvirtPrecheckInput>;

/** Findings as the errors of a Stage, with the instance in their context. */
export function netvirtFindings({ target, client }: NetvirtPrecheckInput, findings: readonly Finding[]): Found[] {
  return findingsAbout({ netvirt: target.netvirt.name, componentManager: client.id }, findings);
}

/** What the upgrade coordinator itself checks before an upgrade. */
export const coordinatorChecks: NetvirtPrecheck = {
  type: "NETVIRT_PRE_UPGRADE_CHECKS",
  name: "Checks of the upgrade coordinator",
  description: "The pre-upgrade checks of the coordinator find no problem.",
  needs: ["NETVIRT_TARGET_OFFERED", "NETVIRT_COMPONENTS_READY"],
  run: async (input) => {
    const { client, retryPolicy, target } = input;
    const { components } = await readNetvirtUpgrade(client, retryPolicy, target);
    if (components.every(({ state }) => state !== "TO_DO")) return [];
    const component = target.options.edgeOnly ? "EDGE" : undefined;
    const { unfinished, waited } = await runCoordinatorChecks(input, component);
    if (unfinished.length > 0) {
      return netvirtFindings(input, [
        {
          code: "NETVIRT_CHECKS_UNFINISHED",
          message: `The pre-upgrade checks of ${target.netvirt.name} did not end within ${duration(waited)} (${unfinished.join(", ")}).`,
          remediation: "Run the pre-upgrade checks in the coordinator, then run the prechecks again.",
        },
      ]);
    }
    const failures = await retryPolicy.retry(() => client.listPrecheckFailures(component));
    const leftOut = await groupsLeftOut(input);
    return netvirtFindings(input, failures.filter(({ group_name = "" }) => !leftOut.has(group_name)).map(toFinding));
  },
};

/** A failure is in the way, and so is a warning that an operator still has to acknowledge in the coordinator. */
function toFinding(failure: CheckFailure): Finding {
  const { type = "FAILURE", needs_ack, acked, component_type, group_name, origin_name } = failure;
  const message = `${origin_name ?? component_type ?? "A check"}: ${failure.message?.message ?? "the check gives no reason"}`;
  const context = {
    ...(component_type !== undefined && { component: component_type }),
    ...(group_name !== undefined && { group: group_name }),
    ...(origin_name !== undefined && { node: origin_name }),
  };
  const common = { message, context, subject: message };
  const again = "then run the prechecks again.";
  if (acked === true)
    return {
      ...common,
      severity: "INFO",
      code: "NETVIRT_CHECK_ACKNOWLEDGED",
      remediation: "No action required: it is acknowledged in the upgrade coordinator.",
    };
  if (needs_ack === true)
    return {
      ...common,
      code: "NETVIRT_CHECK_UNACKNOWLEDGED",
      remediation: `Resolve what the check reports or acknowledge it in the upgrade coordinator, ${again}`,
    };
  if (/warning/i.test(type))
    return {
      ...common,
      severity: "WARNING",
      code: "NETVIRT_CHECK_WARNING",
      remediation: `Resolve what the check reports, ${again}`,
    };
  return { ...common, code: "NETVIRT_CHECK_FAILED", remediation: `Resolve what the check reports, ${again}` };
}

interface ChecksRun {
  /** The components of which the checks were cut short, or still run. */
  readonly unfinished: readonly string[];
  /** Milliseconds. */
  readonly waited: number;
}

/** Runs the checks, or waits for those that run already, for OPERATION_BUSY_MINUTES or the time that is left. */
async function runCoordinatorChecks(input: NetvirtPrecheckInput, component: string | undefined): Promise<ChecksRun> {
  const { client, retryPolicy, limits, target, deadline } = input;
  const wanted = new Set<string>(netvirtComponentOrder(target.targetVersion, target.options.edgeOnly));
  const checksOf = ({ component_status }: UpgradeStatus) =>
    component_status.filter(({ component_type }) => wanted.has(component_type));
  const before = checksOf(await retryPolicy.retry(() => client.readStatus()));
  await retryPolicy.retry(async () => {
    try {
      await client.startPrechecks(component);
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind !== "alreadyDone") throw error;
    }
  });
  const began = retryPolicy.clock.now();
  let seenRunning = false;
  for (let round = 0; ; round++) {
    await retryPolicy.pause(round);
    const now = checksOf(await retryPolicy.retry(() => client.readStatus()));
    const statuses: string[] = now.map(({ pre_upgrade_status }) => pre_upgrade_status?.status ?? "NOT_STARTED");
    const running = statuses.some((status) => status === "IN_PROGRESS" || status === "ABORTING");
    seenRunning ||= running || JSON.stringify(now) !== JSON.stringify(before);
    // Checks that are over before they are seen to run, and have changed nothing, are over as well.
    const waited = retryPolicy.clock.now() - began;
    const inStatus = (...wanted: string[]) => ({
      unfinished: now.filter((_, i) => wanted.includes(statuses[i] ?? "")).map(({ component_type }) => component_type),
      waited,
    });
    if (!running && (seenRunning || waited >= 6 * limits.poll.max)) return inStatus("ABORTED");
    if (waited >= limits.operationBusy || retryPolicy.clock.now() >= deadline)
      return inStatus("IN_PROGRESS", "ABORTING");
  }
}

/** Names of groups that the request leaves out: what is wrong with them is not in the way. */
async function groupsLeftOut({ client, retryPolicy, target }: NetvirtPrecheckInput): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const component of netvirtComponentOrder(target.targetVersion, target.options.edgeOnly)) {
    const groups = await listGroups(client, retryPolicy, component);
    groups
      .filter((group) => !isIncluded(component, group, target.options))
      .forEach((group) => names.add(nameOf(group)));
  }
  return names;
}

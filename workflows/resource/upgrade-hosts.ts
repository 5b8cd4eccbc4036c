import { ApplicationFailure, isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type { RemediateHostsInput, UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import {
  groupsOf,
  isOneActivity,
  isRemediatedTogether,
  rolloutOf,
  type RolloutPolicy,
} from "../../src/domain/plan/upgrade-plan";
import type { Stage } from "../../src/domain/spec/task";
import { type FindingKey, findingKey, isInForce } from "../../src/domain/task/findings";
import { leftOutAsHeld } from "../../src/domain/task/left-out";
import {
  type ClusterHost,
  RemediationProgress,
  type OutOfService,
  outOfServiceAt,
  type RemediationResult,
  stagesOfHost,
} from "../../src/domain/task/host-remediation";
import type { ActivityWaits } from "../../src/domain/time-limits";
import { changeOptions, clusterTarget, gateOptions, readOptions } from "../activity-options";
import { currentTime, now, timestampIn } from "../clock";
import { errorOf, closureIn, progressOf } from "../failures";
import { runResumable, retryWhileLost } from "../lost-activities";
import type { ClusterUpgradeState } from "./cluster-state";
import { endHereIfCancelled } from "./resource-workflow";

const changes = proxyActivities<Pick<UpgradeActivities, "remediateHosts">>(changeOptions());
const gates = proxyActivities<Pick<UpgradeActivities, "awaitClusterHealth">>(gateOptions());
const reads =
  proxyActivities<Pick<UpgradeActivities, "readClusterHosts" | "readHostBefore" | "readRunningVms">>(readOptions());

interface Failure {
  readonly cause: unknown;
}

/**
 * Upgrades the hosts of a cluster in their order by its rollout policy: so many at once, with the inventory's checks and the health
 * gate before, and its checks and the soak time after each group; none is begun while the upgrade is paused. Failures beyond what the policy
 * tolerates end the cluster: the hosts that follow are not begun, and the last failure is thrown. `commit`: of the
 * desired image, where the component manager tells one.
 */
export async function upgradeHosts(
  state: ClusterUpgradeState,
  hosts: readonly ClusterHost[],
  commit: string | undefined,
): Promise<void> {
  const rollout = rolloutOf(state.input.cluster);
  const known = new Map(hosts.map((host) => [host.host, host]));
  const waiting = state.waitingHosts().flatMap((id) => known.get(id) ?? []);
  const looksItself = rollout.healthGate && isOneActivity(state.input.cluster);
  let hasBegun = false;
  for (const planned of groupsOf(waiting, rollout)) {
    await endHereIfCancelled();
    if (state.stillWaiting(planned).length === 0) continue;
    if (hasBegun) await soak(state, rollout);
    let part: GroupPart = { group: planned, known: new Map() };
    const begins = () => state.stillWaiting(part.group);
    let checkedUntil = await untilNextMayBegin(state, begins, { gate: rollout.healthGate && !looksItself });
    let gate = looksItself;
    for (;;) {
      // Hosts may have been left out while something was waited for.
      part = { ...part, group: begins() };
      if (part.group.length === 0) break;
      hasBegun = true;
      const { gateClosed, closed, failures } = await upgradeGroup(state, { ...part, commit, gate });
      const last = failures.at(-1);
      if (last && state.counts().failed > rollout.toleratedFailures) {
        state.hostsWait();
        throw last.cause;
      }
      if (closed) {
        part = closed;
        state.hostsWait();
        // Its Activity leaves a host out that is held now; what keeps all of them is waited for.
        if (closed.error.errorCode !== "HOST_HELD") await state.untilOpen(closed.error);
      } else if (!gateClosed) break;
      checkedUntil = await untilNextMayBegin(state, begins, { gate: rollout.healthGate, checkedUntil, ...gateClosed });
      gate = false;
    }
    await checkAfterHosts(state, planned);
  }
  state.hostsWait();
}

/** Asks the checks that come after hosts, for those of these that have ended. */
export async function checkAfterHosts(state: ClusterUpgradeState, hosts: readonly ClusterHost[]): Promise<void> {
  const ended = state.endedAmong(hosts);
  await state.checks.pass("AFTER_HOST", () => ended);
}

/** What is looked at before hosts begin. */
interface NextHosts {
  /** Whether the health gate is asked for. */
  readonly gate: boolean;
  /** A check of the health that a look has started. */
  readonly check?: string;
  /** Until when earlier answers of the inventory's checks hold (epoch milliseconds). */
  readonly checkedUntil?: number;
}

/**
 * Pauses, the checks of the inventory, and the health gate where it is asked for. The gate counts as open only if it was found
 * open after the last pause and the last check, so a `check` that a look has started counts for nothing once there was one.
 * `begins`: the hosts that are still to begin. Gives until when the answers of the inventory's checks hold.
 */
async function untilNextMayBegin(
  state: ClusterUpgradeState,
  begins: () => readonly ClusterHost[],
  { gate, check, checkedUntil = 0 }: NextHosts,
): Promise<number> {
  let started = state.pause.closed ? undefined : check;
  let until = checkedUntil;
  do {
    await state.pause.pass();
    if (currentTime() >= until) {
      until = await state.checks.pass("BEFORE_HOST", begins);
      if (Number.isFinite(until)) started = undefined;
    }
    if (currentTime() >= until) continue;
    if (gate) await awaitHealth(state, started);
    started = undefined;
  } while (state.pause.closed || currentTime() >= until);
  await endHereIfCancelled();
  return until;
}

/** Hosts that are in work at once, and what is known of those that a freeze has kept from their next attempt, by the first of each Activity. */
interface GroupPart {
  readonly group: readonly ClusterHost[];
  readonly known: ReadonlyMap<string, RemediationProgress>;
}

interface HostGroup extends GroupPart {
  readonly commit: string | undefined;
  /** Whether their Activity looks at the cluster's health first. */
  readonly gate: boolean;
}

interface GroupEnd extends Pick<RemediationResult, "gateClosed"> {
  readonly failures: readonly Failure[];
  /** The hosts that a freeze has kept from beginning. */
  readonly closed?: GroupPart & { readonly error: ErrorBody };
}

/**
 * Hosts at the same time, each to its end: together where their component manager remediates them so. Gives the failures, or
 * that the gate is closed, or that nothing may begin; throws only where the upgrade was cancelled.
 */
async function upgradeGroup(state: ClusterUpgradeState, { group, ...options }: HostGroup): Promise<GroupEnd> {
  const parts = isRemediatedTogether(state.input.cluster) ? [group] : group.map((host) => [host]);
  const ends = await Promise.allSettled(parts.map((part) => upgradeTogether(state, { group: part, ...options })));
  // Whatever else was to be told of a host is a failure; only a cancellation is thrown.
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  const told = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const [gateClosed] = told.flatMap((end) => end.gateClosed ?? []);
  const kept = told.flatMap((end) => end.closed ?? []);
  const [first] = kept;
  return {
    failures: told.flatMap(({ failures }) => failures),
    ...(gateClosed && { gateClosed }),
    ...(first && {
      closed: {
        error: first.error,
        group: kept.flatMap((part) => part.group),
        known: new Map(kept.flatMap((part) => [...part.known])),
      },
    }),
  };
}

/** Upgrades the hosts of one Activity; ends as {@link upgradeGroup} does. */
async function upgradeTogether(
  state: ClusterUpgradeState,
  { group, known, commit, gate }: HostGroup,
): Promise<GroupEnd> {
  const { cluster, upgradeId, waits } = state.input;
  const hosts = group.map(({ host, fqdn }) => ({ host, fqdn }));
  for (const { host } of hosts) state.record({ type: "HostStarted", host });
  state.hostsBegan();
  try {
    const {
      upgraded,
      failed,
      stopped,
      held = [],
      gateClosed,
    } = await remediateHosts(
      {
        ...clusterTarget(cluster, upgradeId),
        hosts,
        attempts: cluster.attempts,
        ...(isRemediatedTogether(cluster) && { emptying: cluster.options }),
        ...(await readBefore(state, hosts)),
        ...(commit !== undefined && { commit }),
        ...(gate && { gate }),
        ...acknowledgedNow(state),
      },
      waits,
      known.get(group[0]?.host ?? ""),
    );
    if (gateClosed) {
      for (const { host } of hosts) state.record({ type: "HostPutBack", host });
      return { failures: [], gateClosed };
    }
    for (const { host, why } of held) {
      state.record({ type: "HostPutBack", host });
      state.record({ type: "HostLeftOut", host, ...leftOutAsHeld(why) });
    }
    for (const result of upgraded) state.record({ type: "HostSucceeded", host: result.host, result });
    const ends = failed.map(({ inMaintenanceMode, vmsOff, ...end }) => ({
      ...end,
      left: { ...(inMaintenanceMode && { inMaintenanceMode }), ...(vmsOff && { vmsOff }) },
      cause: hostFailure(end.error),
    }));
    const failures = await recordFailures(state, ends);
    // Only a cancellation leaves hosts of a group out.
    if (stopped.length > 0) await endHereIfCancelled();
    return { failures };
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    const at = now();
    const progress = progressOf(failure, RemediationProgress);
    const closed = closureIn(failure);
    if (closed) {
      for (const { host } of hosts) state.record({ type: "HostPutBack", host });
      // Of a first attempt nothing is known that matters.
      const again = progress?.failures.some((count) => count > 0) ? progress : undefined;
      if (again) for (const { host } of hosts) state.noteAttempted(host);
      return {
        failures: [],
        closed: { error: closed, group, known: new Map(again ? [[hosts[0]?.host ?? "", again]] : []) },
      };
    }
    const error = errorOf(failure);
    const ends = hosts.map(({ host, fqdn }, place) => ({
      host,
      error,
      cause: failure,
      ...(progress && {
        stages: stagesOfHost(progress, place, fqdn, at),
        left: outOfServiceAt(progress, place),
      }),
    }));
    return { failures: await recordFailures(state, ends) };
  } finally {
    state.hostsChanged();
  }
}

interface FailedHost extends Failure {
  readonly host: string;
  readonly error: ErrorBody;
  readonly stages?: readonly Stage[];
  /** How the upgrade has left it, as far as that is known. */
  readonly left?: OutOfService;
}

/** Failures that a host may end with because it has left its cluster. */
const endsOfLeavers: ReadonlySet<string | undefined> = new Set([
  "HOST_NOT_RECONNECTED",
  "HOST_NOT_BACK_IN_SERVICE",
  "RESOURCE_NOT_FOUND",
]);

/** Records hosts that have failed, and those that have left the cluster as left out. Gives the failures. */
async function recordFailures(state: ClusterUpgradeState, failed: readonly FailedHost[]): Promise<readonly Failure[]> {
  const mayHaveLeft = failed.filter(({ error }) => endsOfLeavers.has(error.errorCode)).map(({ host }) => host);
  const left = await findMissing(state, mayHaveLeft);
  const failures: Failure[] = [];
  for (const { host, error, stages, cause, left: leftOut = {} } of failed) {
    state.rememberOutOfService(host, leftOut);
    if (error.errorCode === "HOST_LEFT_CLUSTER" || left.has(host)) state.record({ type: "HostLeft", host });
    else {
      state.record({ type: "HostFailed", host, error, ...(stages && { stages }) });
      failures.push({ cause });
    }
  }
  return failures;
}

function hostFailure(error: ErrorBody): ApplicationFailure {
  return ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
}

/** What has to be put back later, recorded in the history before anything is changed. */
async function readBefore(
  state: ClusterUpgradeState,
  hosts: RemediateHostsInput["hosts"],
): Promise<Pick<RemediateHostsInput, "before" | "runningVms">> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  const [host] = hosts;
  if (cluster.kind === "BASELINE" && host) {
    const options = { ...readOptions(waits), summary: `${host.fqdn}: read state` };
    const read = () => reads.readHostBefore.executeWithOptions(options, [{ ...target, host }]);
    const before = await retryWhileLost(waits, read);
    state.rememberRunning(host.host, before.runningVms);
    return { before };
  }
  if (!target.ownOptions?.preRemediationPowerAction) return {};
  const summary = `${cluster.name}: read running virtual machines of ${hosts.length} hosts`;
  const options = { ...readOptions(waits), summary };
  const read = () => reads.readRunningVms.executeWithOptions(options, [{ ...target, hosts }]);
  const runningVms = await retryWhileLost(waits, read);
  for (const [id, vms] of Object.entries(runningVms)) state.rememberRunning(id, vms);
  return { runningVms };
}

async function soak(state: ClusterUpgradeState, { soakSeconds }: RolloutPolicy): Promise<void> {
  if (soakSeconds === 0) return;
  const until = timestampIn(soakSeconds * 1000);
  const message = `Waiting until ${until}: ${soakSeconds} s after each host before the next (rollout policy).`;
  state.record({ type: "Waiting", waitingFor: { code: "SOAK", message } });
  state.hostsWait();
  state.publish(message);
  await sleep(soakSeconds * 1000, { summary: `soak until ${until}` });
}

/** Waits for a healthy cluster. `check`: a check that a look has started and not waited for. */
async function awaitHealth(state: ClusterUpgradeState, check: string | undefined): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  const message = "Waiting for the cluster to be healthy before the next host (rollout policy).";
  state.record({ type: "Waiting", waitingFor: { code: "HEALTH_GATE", message } });
  state.hostsWait();
  const summary = `${cluster.name}: check health before the next host`;
  await retryWhileLost(waits, () =>
    gates.awaitClusterHealth.executeWithOptions({ ...gateOptions(waits), summary }, [
      { ...target, ...(check !== undefined && { check }), ...acknowledgedNow(state) },
    ]),
  );
}

/** What an operator has accepted keeps no host from beginning. */
function acknowledgedNow({ acknowledged }: ClusterUpgradeState): { readonly acknowledged?: readonly FindingKey[] } {
  const inForce = acknowledged.filter((one) => isInForce(one, currentTime())).map(findingKey);
  return inForce.length === 0 ? {} : { acknowledged: inForce };
}

/** Before a host that the cluster does not list is looked for again (seconds). */
const missingHostLookSeconds = 10;

/** The hosts of the cluster as they are now, with those virtual machines that the upgrade switched off and that do not run. */
export function readHosts({ input, switchedOff }: ClusterUpgradeState): Promise<ClusterHost[]> {
  const { cluster, upgradeId, waits } = input;
  const options = { ...readOptions(waits), summary: `${cluster.name}: read hosts` };
  const target = { ...clusterTarget(cluster, upgradeId), ...(switchedOff.length > 0 && { switchedOff }) };
  return retryWhileLost(waits, () => reads.readClusterHosts.executeWithOptions(options, [target]));
}

/**
 * Of these hosts those that the cluster does not list, at a second look either. A look that fails has missed none, nor has
 * one that a cancellation cuts short: how its hosts ended is told all the same.
 */
async function findMissing(state: ClusterUpgradeState, hosts: readonly string[]): Promise<ReadonlySet<string>> {
  const unlisted = async (asked: readonly string[]) => {
    const listed = new Set((await readHosts(state)).map(({ host }) => host));
    return asked.filter((host) => !listed.has(host));
  };
  if (hosts.length === 0) return new Set();
  try {
    const missing = await unlisted(hosts);
    if (missing.length === 0) return new Set();
    await sleep(missingHostLookSeconds * 1000, { summary: "before the second check of a missing host" });
    return new Set(await unlisted(missing));
  } catch {
    return new Set();
  }
}

/**
 * Upgrades one host, or several together. Their Activity attaches to a remediation that still runs, so it may be lost with
 * its worker as often as it likes: only failures that the component manager reports use up attempts
 * (docs/decisions/0004). It counts attempts for each host on its own, so Temporal allows as many as all may need.
 */
function remediateHosts(
  input: RemediateHostsInput,
  waits: ActivityWaits,
  known: RemediationProgress | undefined,
): Promise<RemediationResult> {
  const { hosts, attempts, cluster } = input;
  const { host = "", fqdn = "" } = hosts[0] ?? {};
  const isOne = hosts.length === 1;
  const summary = isOne ? `${fqdn}: remediate` : `${hosts.length} hosts from ${fqdn}: remediate together`;
  return runResumable({
    name: isOne ? fqdn : `${cluster.name}: ${hosts.length} hosts`,
    attempts: { ...attempts, maximumAttempts: attempts.maximumAttempts * hosts.length },
    waits,
    known,
    progress: RemediationProgress,
    reportedFailures: ({ failures }) => failures.reduce((sum, count) => sum + count, 0),
    run: (left, again) =>
      changes.remediateHosts.executeWithOptions(
        { ...changeOptions(left, waits), activityId: `remediate/${host}`, summary },
        [{ ...input, ...again }],
      ),
  });
}

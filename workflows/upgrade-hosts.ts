import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from "@temporalio/workflow";
import type { HealthLook, HostBefore, HostsInTurn, RunningVms, UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/error-body";
import { HostProgress, type ClusterHost } from "../src/domain/host-remediation";
import { HostsProgress, stagesOfHost } from "../src/domain/hosts-remediation";
import { groupsOf, isRemediatedTogether, ownOptionsOf, rolloutOf } from "../src/domain/rollout";
import { toTimestamp } from "../src/domain/timestamp";
import type { RolloutPolicy } from "../src/domain/upgrade-plan";
import { errorOf, progressOf } from "./activity-failure";
import { clusterTarget } from "./activity-targets";
import type { ClusterUpgradeState } from "./cluster-upgrade-state";
import { endHereIfCancelled } from "./end-here-if-cancelled";
import { localFirst } from "./local-first";
import { remediateHost } from "./remediate-host";
import { remediateHosts } from "./remediate-hosts";
import { gateOptions, readOptions, localOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";

const gates = proxyActivities<Pick<UpgradeActivities, "awaitClusterHealth">>(gateOptions());
const local =
  proxyLocalActivities<Pick<UpgradeActivities, "checkClusterHealth" | "readHostBefore" | "readRunningVms">>(
    localOptions,
  );
const reads = proxyActivities<Pick<UpgradeActivities, "readHostBefore" | "readRunningVms">>(readOptions());

interface Failure {
  readonly cause: unknown;
}

/** What is known of a cluster whose hosts are to be upgraded. */
export interface PreparedHosts {
  /** Of its desired image. */
  readonly commit?: string | undefined;
  /** A look at its health, made right before; absent where there was none. */
  readonly look?: HealthLook | undefined;
}

/** How many hosts after its own an Activity is told of: the first one, one after a host that has taken its time, and any. */
const first = 15;
const fewest = 3;
const most = 63;

/**
 * Upgrades the hosts of a cluster in their order by its rollout policy: so many at once, with the health gate before
 * and the soak time after each group; none is begun while the upgrade is paused. Failures beyond what the policy
 * tolerates end the cluster: the hosts that follow are not begun, and the last failure is thrown.
 */
export async function upgradeHosts(
  state: ClusterUpgradeState,
  hosts: readonly ClusterHost[],
  { commit, look }: PreparedHosts,
): Promise<void> {
  const { cluster } = state.input;
  const rollout = rolloutOf(cluster);
  const known = new Map(hosts.map((host) => [host.host, host]));
  const groups = groupsOf(
    state.waitingHosts().flatMap((id) => known.get(id) ?? []),
    rollout,
  );
  const pace = new Pace(state);
  let ahead: Ahead = { look };
  for (let group = groups.shift(), isFirst = true; group; group = groups.shift(), isFirst = false) {
    // What is in work already goes on whatever happens: it looks after a cancellation itself.
    if (!ahead.begun) await untilNextMayBegin(state, isFirst, ahead.look);
    const following = pace.following(groups);
    const ended = await upgradeGroup(state, group, { commit, following, begun: ahead.begun });
    ahead = ended.ahead ?? {};
    groups.splice(0, ended.followed);
    pace.followed(ended.followed);
    const last = ended.failures.at(-1);
    if (last && state.hostCounts().failed > rollout.toleratedFailures) throw last.cause;
  }
}

/** Soak time, pauses and the health gate before a group of hosts. `look`: what is known of the cluster's health already. */
async function untilNextMayBegin(state: ClusterUpgradeState, isFirst: boolean, look?: HealthLook): Promise<void> {
  const rollout = rolloutOf(state.input.cluster);
  let known = look;
  await endHereIfCancelled();
  if (!isFirst) await soak(state, rollout);
  // A cluster that was healthy when the upgrade was paused need not be when it is resumed.
  do {
    if (state.pause.closed) known = undefined;
    await state.pause.pass();
    if (rollout.healthGate) await awaitHealth(state, known);
    known = undefined;
  } while (state.pause.closed);
  await endHereIfCancelled();
}

/** What the Activity of one host has done of those after it. */
interface Ahead {
  /** The next host is in work, and this is known of it. */
  readonly begun?: HostProgress | undefined;
  /** The cluster was looked at before the next host. */
  readonly look?: HealthLook | undefined;
}

interface GroupEnd {
  readonly failures: readonly Failure[];
  /** How many groups after this one have been upgraded as well. */
  readonly followed: number;
  readonly ahead?: Ahead;
}

interface GroupWork {
  readonly commit: string | undefined;
  readonly following: readonly ClusterHost[];
  readonly begun: HostProgress | undefined;
}

/** Hosts at the same time, each to its end. Gives the failures; throws only where the upgrade was cancelled. */
async function upgradeGroup(
  state: ClusterUpgradeState,
  group: readonly ClusterHost[],
  work: GroupWork,
): Promise<GroupEnd> {
  if (isRemediatedTogether(state.input.cluster)) {
    return { failures: await upgradeTogether(state, group, work.commit), followed: 0 };
  }
  const ended = await Promise.allSettled(group.map((host) => upgradeHost(state, host, work)));
  const failures = ended.flatMap((end) => (end.status === "rejected" ? [{ cause: end.reason as unknown }] : []));
  const cancelled = failures.find(({ cause }) => isCancellation(cause));
  if (cancelled) throw cancelled.cause;
  // Only where hosts go one by one does anything follow.
  const [only] = ended;
  if (only?.status !== "fulfilled") return { failures, followed: 0 };
  const { followed = [], begun, look } = only.value;
  return { failures, followed: followed.length, ahead: { begun, look } };
}

/**
 * How many hosts an Activity is told of beside its own: few after a host that has taken its time, so that the history of
 * such hosts stays small, and twice as many whenever it has done all of them.
 */
class Pace {
  private told = first;

  constructor(private readonly state: ClusterUpgradeState) {}

  following(groups: readonly (readonly ClusterHost[])[]): readonly ClusterHost[] {
    const { cluster } = this.state.input;
    const { hostsAtOnce, soakSeconds } = rolloutOf(cluster);
    const oneByOne = cluster.kind === "IMAGE" && hostsAtOnce === 1 && soakSeconds === 0;
    return this.state.savesTasks && oneByOne ? groups.slice(0, this.told).flat() : [];
  }

  followed(hosts: number): void {
    this.told = hosts >= this.told ? Math.min(most, 2 * this.told) : fewest;
  }
}

/** Hosts that their component manager remediates together, by a policy that allows it. */
async function upgradeTogether(
  state: ClusterUpgradeState,
  group: readonly ClusterHost[],
  commit: string | undefined,
): Promise<readonly Failure[]> {
  const { cluster, upgradeId, waits } = state.input;
  for (const { host } of group) state.record({ type: "HostStarted", host });
  try {
    const runningVms = ownOptionsOf(cluster)?.preRemediationPowerAction && (await readRunningVms(state, group));
    const { upgraded, failed, stopped } = await remediateHosts(
      {
        ...clusterTarget(cluster, upgradeId),
        hosts: group.map(({ host, fqdn }) => ({ host, fqdn })),
        options: cluster.options,
        attempts: cluster.attempts,
        ...(runningVms && { runningVms }),
        ...(commit !== undefined && { commit }),
      },
      waits,
    );
    for (const result of upgraded) state.record({ type: "HostSucceeded", host: result.host, result });
    for (const { host, error, stages } of failed) state.record({ type: "HostFailed", host, error, stages });
    // Only a cancellation leaves hosts of a group out.
    if (stopped.length > 0) await endHereIfCancelled();
    return failed.map(({ error }) => ({ cause: hostFailure(error) }));
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    const at = toTimestamp(Date.now());
    const progress = progressOf(failure, HostsProgress);
    for (const [place, { host }] of group.entries()) {
      const stages = progress && stagesOfHost(progress, place, at);
      state.record({ type: "HostFailed", host, error: errorOf(failure), ...(stages && { stages }) });
    }
    return [{ cause: failure }];
  } finally {
    await CancellationScope.nonCancellable(() => state.report());
  }
}

function hostFailure(error: ErrorBody): ApplicationFailure {
  return ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
}

async function upgradeHost(
  state: ClusterUpgradeState,
  host: ClusterHost,
  { commit, following, begun }: GroupWork,
): Promise<HostsInTurn> {
  const { cluster, upgradeId, waits } = state.input;
  let goesOn = false;
  state.record({ type: "HostStarted", host: host.host });
  try {
    const before = cluster.kind === "BASELINE" ? await readHostBefore(state, host) : undefined;
    const result = await remediateHost(
      {
        ...clusterTarget(cluster, upgradeId),
        host: { host: host.host, fqdn: host.fqdn },
        attempts: cluster.attempts,
        ...(commit !== undefined && { commit }),
        ...(before && { before }),
        ...(begun && { resume: begun }),
        ...(following.length > 0 && {
          following: following.map(({ host, fqdn }) => ({ host, fqdn })),
          healthGate: rolloutOf(cluster).healthGate,
        }),
      },
      waits,
    );
    recordInTurn(state, result);
    goesOn = (result.followed ?? []).length > 0 && !result.begun;
    return result;
  } catch (failure) {
    const stages = progressOf(failure, HostProgress)?.stages;
    if (!isCancellation(failure))
      state.record({ type: "HostFailed", host: host.host, error: errorOf(failure), ...(stages && { stages }) });
    throw failure;
  } finally {
    await CancellationScope.nonCancellable(() => state.report(goesOn));
  }
}

function recordInTurn(state: ClusterUpgradeState, { followed = [], begun, look, ...own }: HostsInTurn): void {
  state.record({ type: "HostSucceeded", host: own.host, result: own });
  for (const result of followed) {
    state.record({ type: "HostStarted", host: result.host });
    state.record({ type: "HostSucceeded", host: result.host, result });
  }
}

/** What has to be put back later, recorded in the history before anything is changed. */
function readHostBefore(state: ClusterUpgradeState, { host, fqdn }: ClusterHost): Promise<HostBefore> {
  const { cluster, upgradeId, waits } = state.input;
  const input = { ...clusterTarget(cluster, upgradeId), host: { host, fqdn } };
  const summary = `${fqdn}: read state`;
  return localFirst(
    state.savesRoundTrips,
    () => local.readHostBefore.executeWithOptions({ ...localOptions, summary }, [input]),
    () =>
      untilAnswered(waits, () => reads.readHostBefore.executeWithOptions({ ...readOptions(waits), summary }, [input])),
  );
}

/** What has to be started again later, recorded in the history before it is switched off. */
function readRunningVms(state: ClusterUpgradeState, group: readonly ClusterHost[]): Promise<RunningVms> {
  const { cluster, upgradeId, waits } = state.input;
  const input = { ...clusterTarget(cluster, upgradeId), hosts: group.map(({ host, fqdn }) => ({ host, fqdn })) };
  const summary = `${cluster.name}: read running virtual machines of ${group.length} hosts`;
  return localFirst(
    state.savesRoundTrips,
    () => local.readRunningVms.executeWithOptions({ ...localOptions, summary }, [input]),
    () =>
      untilAnswered(waits, () => reads.readRunningVms.executeWithOptions({ ...readOptions(waits), summary }, [input])),
  );
}

async function soak(state: ClusterUpgradeState, { soakSeconds }: RolloutPolicy): Promise<void> {
  if (soakSeconds === 0) return;
  const until = toTimestamp(Date.now() + soakSeconds * 1000);
  const description = `until ${until}: ${soakSeconds} s after each host before the next (rollout policy).`;
  state.record({ type: "Waiting", description });
  state.publish(`Waiting ${description}`);
  await sleep(soakSeconds * 1000, { summary: `soak until ${until}` });
}

async function awaitHealth(state: ClusterUpgradeState, known?: HealthLook): Promise<void> {
  const { cluster, upgradeId, waits } = state.input;
  const target = clusterTarget(cluster, upgradeId);
  state.record({
    type: "Waiting",
    description: "for the cluster to be healthy before the next host (rollout policy).",
  });
  const summary = `${cluster.name}: healthy enough for the next host?`;
  const look =
    known ??
    (await localFirst<HealthLook>(
      state.savesRoundTrips,
      () => local.checkClusterHealth.executeWithOptions({ ...localOptions, summary }, [target]),
      () => Promise.resolve({ healthy: false }),
    ));
  if (look.healthy) return;
  const { check } = look;
  await untilAnswered(waits, () =>
    gates.awaitClusterHealth.executeWithOptions({ ...gateOptions(waits), summary }, [
      { ...target, ...(check !== undefined && { check }) },
    ]),
  );
}

import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { hostStages, type HostProgress, type HostResult, type HostStageType } from "../../src/domain/host-remediation";
import { toTimestamp } from "../../src/domain/timestamp";
import { endingPatience, runActivity, stopReason } from "../activity-run";
import type { HealthLook, HostsInTurn, RemediateHostInput } from "../contract";
import { DriverError } from "../drivers/driver-error";
import { recentReads, type RecentReads } from "../drivers/vlcm/recent-reads";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { createPatience, type Patience } from "../patience";
import { toldHeartbeats } from "../told-progress";
import type { HealthGateDependencies } from "./await-cluster-health";
import { lookAtHealth } from "./check-cluster-health";
import { HostProgressTracker } from "./host-progress";
import { HostRemediationRun } from "./host-remediation-run";
import { LeftToOthers } from "./left-to-others";
import { NothingRuns } from "./nothing-runs";
import { recentMaintenance, type RecentMaintenance } from "./recent-maintenance";
import { ReportedFailure } from "./reported-failure";

/** The stage of a host whose beginning tells of a remediation. */
const remediation: HostStageType = "REMEDIATE";

/** What {@link remediateInTurn} needs beside the health gate's. */
export interface InTurnDependencies extends HealthGateDependencies {
  /** One host to its end, whatever that takes. */
  remediate(input: RemediateHostInput): Promise<HostResult>;
}

/** What became of a host that the run went on to. */
type Turn =
  | { readonly result: HostResult }
  /** It was begun, and is left to its own Activity. */
  | { readonly begun: HostProgress }
  | "NOT_BEGUN";

/**
 * Upgrades a host, and then those after it for as long as each takes but moments: what an Activity of its own costs would
 * be most of their time. Nothing of a later host can fail here: whatever is not done at once, or not as it should be, is
 * left to the Activity of that host, which goes on from the same progress and judges it as ever.
 *
 * After a lost run it goes through the same hosts again, at any pace, to find what that one has left; it begins none.
 */
export async function remediateInTurn(
  dependencies: InTurnDependencies,
  input: RemediateHostInput,
): Promise<HostsInTurn> {
  const { following = [], healthGate = false } = input;
  const { moment, run } = dependencies.limits.inTurn;
  const began = Date.now();
  const own = await dependencies.remediate(input);
  const wasLost = input.lostSince !== undefined;
  const mayGoOn = (longest: number) =>
    wasLost || (!input.stop && stopReason() === undefined && Date.now() - began < longest);
  if (!mayGoOn(moment)) return own;

  const hosts = new FollowingHosts(dependencies, input, own);
  return hosts.beating(async () => {
    const followed: HostResult[] = [];
    for (const host of following) {
      if (!mayGoOn(run)) break;
      const look = healthGate && !wasLost ? await hosts.look() : undefined;
      if (look && !look.healthy) return { ...own, followed, look };
      const turn = await hosts.turn(host, () => mayGoOn(run));
      if (turn === "NOT_BEGUN") break;
      if ("begun" in turn) return { ...own, followed, begun: turn.begun };
      followed.push(turn.result);
    }
    return { ...own, followed };
  });
}

/** The hosts that a run goes on to after its own. */
class FollowingHosts {
  readonly #dependencies: InTurnDependencies;
  readonly #input: RemediateHostInput;
  readonly #activity = Context.current();
  readonly #context: Readonly<Record<string, string>>;
  readonly #client: VlcmClient;
  /** Absent in the search for what a lost run has left, which goes by what is asked anew. */
  readonly #recent: RecentReads | undefined;
  readonly #maintenance: RecentMaintenance;
  /** Of the host that was last in work. */
  #progress: HostProgress;

  /** `own`: the host before them. */
  constructor(dependencies: InTurnDependencies, input: RemediateHostInput, { host, stages }: HostResult) {
    this.#dependencies = dependencies;
    this.#input = input;
    const { componentManagerId } = input.cluster;
    const { recent } = dependencies.limits.inTurn;
    const client = dependencies.clientOf(componentManagerId);
    if (input.lostSince === undefined) this.#recent = recentReads(client, recent);
    this.#client = this.#recent?.client ?? client;
    this.#maintenance = recentMaintenance(dependencies.maintenanceOf(componentManagerId), recent);
    this.#progress = { host, reportedFailures: 0, activity: "Upgraded; going on to the next host.", stages };
    this.#context = { cluster: input.cluster.name, componentManager: input.cluster.componentManagerId };
  }

  /** Heartbeats while the hosts are worked on. */
  beating<A>(work: () => Promise<A>): Promise<A> {
    const { upgradeId } = this.#input;
    return runActivity({ context: this.#context, upgradeId, heartbeat: () => this.#progress }, work);
  }

  look(): Promise<HealthLook> {
    const { maintenance } = this.#maintenance;
    const remembering = { clientOf: () => this.#client, maintenanceOf: () => maintenance };
    return lookAtHealth({ ...this.#dependencies, ...remembering }, this.#hurry(), this.#input);
  }

  /** One host, for a moment. `mayBegin`: asked again right before its remediation would be requested. */
  async turn(host: RemediateHostInput["host"], mayBegin: () => boolean): Promise<Turn> {
    this.#maintenance.moved(host.host);
    const input: RemediateHostInput = { ...this.#input, host };
    const wasLost = input.lostSince !== undefined;
    const beat = wasLost ? this.#tell(host.fqdn) : this.#remember;
    const began = Date.now();
    const progress = new HostProgressTracker(host.host, undefined, beat, hostStages);
    try {
      const run = new HostRemediationRun({
        ...{ client: this.#client, input, limits: this.#dependencies.limits, progress },
        ...{ mayHaveRequested: wasLost, lastScanOnly: wasLost, stopping: false },
        mayAsk: () => !wasLost && mayBegin(),
        patience: wasLost ? this.#onlyAnswers() : this.#lookingAnew(this.#hurry()),
      });
      const result = await run.toTheEnd();
      const { outcome, version } = result;
      const milliseconds = Date.now() - began;
      this.#activity.log.info("A host took but a moment", {
        ...{ ...this.#context, host: host.fqdn, outcome, version },
        ...{ remoteTask: progress.current.remoteTask, milliseconds },
      });
      return { result };
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      const left = this.#leftAs(progress.current, error);
      const reason = error instanceof Error ? error.message : String(error);
      const isBegun = left !== "NOT_BEGUN";
      const { remoteTask } = progress.current;
      this.#activity.log.info("A host is left to an Activity of its own", {
        ...{ ...this.#context, host: host.fqdn, isBegun, remoteTask, reason },
      });
      return left;
    }
  }

  #tell(host: string): (progress: HostProgress) => void {
    // That another host is looked at says how far the search is.
    const tell = toldHeartbeats(this.#activity, { ...this.#context, host }, true);
    return (now) => {
      this.#progress = now;
      tell(now);
    };
  }

  /** For the run's next sign of life. One for each request would be an eighth of what a host costs, and most would not be sent. */
  readonly #remember = (now: HostProgress): void => {
    this.#progress = now;
  };

  /** Whether a host was begun, by what its run knew when it ended. */
  #leftAs(progress: HostProgress, error: unknown): Turn {
    if (error instanceof NothingRuns) return "NOT_BEGUN";
    const { lostSince } = this.#input;
    const isKnown = progress.remoteTask !== undefined || progress.requestedAt !== undefined;
    const hasEnded = error instanceof ReportedFailure && error.code !== "HOST_INCOMPATIBLE";
    // A lost run has left it remediated, and it is not back yet or has to be compared with the image anew.
    const isRemediated = progress.stages.some(({ type, status }) => type === remediation && status !== "PENDING");
    // Trouble may keep us from knowing what a lost run has left.
    const isOpen = lostSince !== undefined && (isRemediated || error instanceof DriverError);
    if (!isKnown && !hasEnded && !isOpen) return "NOT_BEGUN";
    if (lostSince === undefined || isKnown) return { begun: progress };
    const byTheirClock = Date.parse(lostSince) + this.#client.now() - Date.now();
    return { begun: { ...progress, requestedAt: toTimestamp(byTheirClock) } };
  }

  /** For a moment and without any trouble; whatever ends it is left to the next Activity. */
  #hurry(): Patience {
    const { poll, inTurn } = this.#dependencies.limits;
    const until = Date.now() + inTurn.moment;
    return createPatience(
      { poll, outage: 0, operationBusy: inTurn.moment },
      {
        signal: Context.current().cancellationSignal,
        interruption: () => (stopReason() !== undefined || Date.now() >= until ? leftToOthers() : undefined),
      },
    );
  }

  /** Whoever waits before looking again wants to see something new. */
  #lookingAnew(patience: Patience): Patience {
    return {
      ...patience,
      pause: (round) => {
        this.#recent?.forget();
        return patience.pause(round);
      },
    };
  }

  /**
   * Waits for answers, also after a cancellation, and for nothing else: a worker that stops here leaves all of it to be
   * looked at again.
   */
  #onlyAnswers(): Patience {
    return { ...endingPatience(this.#dependencies.limits), pause: () => Promise.reject(leftToOthers()) };
  }
}

function leftToOthers(): LeftToOthers {
  return new LeftToOthers("It takes longer than a moment, or the run is to stop.");
}

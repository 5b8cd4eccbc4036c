import { ApplicationFailure, WorkflowNotFoundError } from "@temporalio/common";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { isLeft } from "fp-ts/Either";
import pino from "pino";
import type { HeldLock, UpgradeActivities } from "../../activities/contract";
import { lookAtClosure } from "../../activities/closure-check";
import type { Freeze } from "../../src/domain/freeze";
import type { HoldTarget } from "../../src/domain/hold";
import { resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { readUpgradeEnd } from "../../src/temporal/describe-workflow";
import type { MaintenancePlace, Opening } from "../../src/domain/opening";
import { readFreezes } from "../../src/temporal/freezes";
import { listHolds, readHolds } from "../../src/temporal/holds";
import { readHolder } from "../../src/temporal/lock-holder";
import { temporalUpgradeExecutions } from "../../src/temporal/upgrade-executions";
import type { upgradeWorkflow } from "../../workflows/upgrade/upgrade-workflow";
import { eventually } from "./eventually";
import { FakeActivities } from "./fake-activities";
import { RunningUpgrade } from "./running-upgrade";
import { samplePlan, type SamplePlanOptions } from "./sample-plan";
import {
  type RunningWorker,
  runWorker,
  startDevServer,
  startTimeSkipping,
  type WorkerBuild,
} from "./workflow-environment";

/**
 * A Temporal server with a worker of the real Workflows. Every upgrade brings its own fake Activities, which serve
 * its clusters; what a test leaves open is terminated by `clean`.
 */
export class UpgradeBench {
  private readonly fakes = new Map<string, UpgradeActivities>();
  private readonly started: RunningUpgrade[] = [];
  private readonly workers: RunningWorker[] = [];

  private constructor(readonly env: TestWorkflowEnvironment) {}

  /** `settings` are further ones of the dev server. */
  static async start(kind: "DEV_SERVER" | "TIME_SKIPPING", settings: readonly string[] = []): Promise<UpgradeBench> {
    const env = await (kind === "DEV_SERVER" ? startDevServer(settings) : startTimeSkipping());
    const bench = new UpgradeBench(env);
    await bench.startWorker();
    return bench;
  }

  /** Starts an upgrade as the service does, with a plan that is made at the server's own time where no other is given. */
  async upgrade(options: SamplePlanOptions = {}, fake = new FakeActivities()): Promise<RunningUpgrade> {
    const plan = samplePlan({ ...options, now: options.now ?? (await this.now()) });
    this.serve(plan, fake);
    const { client } = this.env;
    const started = await temporalUpgradeExecutions(client, pino({ level: "silent" })).start(plan, {
      requestedBy: "a test",
    })();
    if (isLeft(started)) throw new Error(JSON.stringify(started.left));
    const handle = client.workflow.getHandle<typeof upgradeWorkflow>(plan.id);
    const upgrade = new RunningUpgrade(client, handle, plan, fake);
    this.started.push(upgrade);
    return upgrade;
  }

  /** Milliseconds since the epoch on the server's clock. */
  now(): Promise<number> {
    return this.env.currentTimeMs();
  }

  /** The time that lies so many milliseconds ahead on the server's clock, as a Timestamp. */
  async inTime(milliseconds: number): Promise<string> {
    return new Date((await this.now()) + milliseconds).toISOString();
  }

  /** Lets so many milliseconds pass on the server's clock; a moment where it skips time. */
  passTime(milliseconds: number): Promise<void> {
    return this.env.sleep(milliseconds);
  }

  /** Starts a worker where none runs, by default of this build. */
  async startWorker(build?: WorkerBuild): Promise<void> {
    if (this.workers.length === 0) await this.addWorker(build);
  }

  /** Starts a worker beside those that run. Gives what stops it alone. */
  async addWorker(build?: WorkerBuild): Promise<() => Promise<void>> {
    const worker = await runWorker(this.env, this.dispatched(), build);
    this.workers.push(worker);
    return async () => {
      this.workers.splice(this.workers.indexOf(worker), 1);
      await worker.stop();
    };
  }

  /** Stops what workers there are. Not on the time-skipping server: it leaves their Workflows to them for ever. */
  async stopWorker(): Promise<void> {
    await Promise.all(this.workers.splice(0).map((worker) => worker.stop()));
  }

  /** What the upgrades of a failed test have done, for whoever has to find out why. */
  async explain(): Promise<string> {
    return (await Promise.all(this.started.map((upgrade) => upgrade.story()))).join("\n");
  }

  /** Ends what a test has left open, so that it holds up neither time nor the end of the run. */
  async clean(): Promise<void> {
    await this.startWorker();
    await Promise.all(this.started.splice(0).map((upgrade) => this.endOf(upgrade)));
  }

  /** The time-skipping server skips no time any more once a Workflow that waits for children was terminated. */
  private async endOf({ handle }: RunningUpgrade): Promise<void> {
    try {
      if (this.env.supportsTimeSkipping) await handle.cancel();
      else await handle.terminate("end of the test");
      await eventually(
        () => handle.describe(),
        ({ status }) => status.name !== "RUNNING",
      );
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Whether its server can still read what it keeps: SQLite's driver can be left so that it cannot (docs/decisions/0034). */
  async answers(): Promise<boolean> {
    try {
      const { client } = this.env;
      await client.withDeadline(Date.now() + 10_000, () => client.workflow.getHandle("nobody").describe());
      return true;
    } catch (error) {
      return error instanceof WorkflowNotFoundError;
    }
  }

  async stop(): Promise<void> {
    await this.stopWorker();
    await this.env.teardown();
  }

  /** From here on these Activities answer for the clusters of the plan. */
  serve(plan: UpgradePlan, fake: FakeActivities): void {
    const implementation = fake.implementation();
    // Notifications are for the upgrade, everything else for its resources.
    for (const id of [plan.id, ...resourcesOf(plan).map(({ resourceId }) => resourceId)])
      this.fakes.set(id, implementation);
  }

  /** Domains whose maintenance window is closed. */
  readonly closedDomains = new Set<string>();

  /** When open windows close, by domain (epoch milliseconds). */
  readonly closings = new Map<string, number>();

  /** Calendars that decide instead, by domain. */
  readonly calendars = new Map<string, (places: readonly MaintenancePlace[]) => Opening>();

  readonly openingOf = (places: readonly MaintenancePlace[]): Opening => {
    const [calendar] = places.flatMap(({ domain }) => this.calendars.get(domain) ?? []);
    if (calendar) return calendar(places);
    return places.some(({ domain, ignoresCalendar }) => !ignoresCalendar && this.closedDomains.has(domain))
      ? { isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: "nights" }
      : this.openUntil(places);
  };

  private openUntil(places: readonly MaintenancePlace[]): Opening {
    const ends = places.flatMap(({ domain }) => this.closings.get(domain) ?? []);
    return { isOpen: true, ...(ends.length > 0 && { closesAt: Math.min(...ends) }) };
  }

  /** Domains of which nobody can tell whether they are frozen. */
  readonly unreadableDomains = new Set<string>();

  /** Asks Temporal, as the real worker does. */
  async readFreezes(domains: readonly string[]): Promise<readonly Freeze[]> {
    if (domains.some((domain) => this.unreadableDomains.has(domain))) throw new Error("Temporal is away");
    return readFreezes(this.env.client, domains);
  }

  /** Asks Temporal, as the real worker does. */
  readonly holds = {
    readHolds: (targets: readonly HoldTarget[]) => readHolds(this.env.client, targets),
    listHolds: () => listHolds(this.env.client),
  };

  /** Asks Temporal, as the real Activity does. */
  private async holdersOf(workflowIds: readonly string[]): Promise<HeldLock[]> {
    const read = workflowIds.map(async (workflowId) => {
      const { upgradeId, state = "HELD", ...names } = await readHolder(this.env.client, workflowId);
      return upgradeId === undefined ? [] : [{ ...names, workflowId, upgradeId, state }];
    });
    return (await Promise.all(read)).flat();
  }

  private dispatched(): UpgradeActivities {
    const of = (id: string): UpgradeActivities => {
      const fake = this.fakes.get(id);
      if (!fake) throw ApplicationFailure.nonRetryable(`No test serves ${id}`);
      return fake;
    };
    return {
      runMgmtPrechecks: (target) => of(target.server.resourceId).runMgmtPrechecks(target),
      readMgmtServer: (target) => of(target.server.resourceId).readMgmtServer(target),
      stageMgmtUpdate: (input) => of(input.server.resourceId).stageMgmtUpdate(input),
      installMgmtUpdate: (input) => of(input.server.resourceId).installMgmtUpdate(input),
      prepareMgmtMigration: (input) => of(input.server.resourceId).prepareMgmtMigration(input),
      switchOverMgmtMigration: (input) => of(input.server.resourceId).switchOverMgmtMigration(input),
      cancelMgmtMigration: (target) => of(target.server.resourceId).cancelMgmtMigration(target),
      lookAtClosure: (look) =>
        lookAtClosure(
          {
            readFreezes: (domains) => this.readFreezes(domains),
            readHolds: this.holds.readHolds,
            openingOf: this.openingOf,
          },
          look,
        ),
      checkBundle: (input) => of(input.upgradeId).checkBundle(input),
      runClusterPrechecks: (target) => of(target.cluster.resourceId).runClusterPrechecks(target),
      readClusterHosts: (target) => of(target.cluster.resourceId).readClusterHosts(target),
      readRemediationPolicy: (target) => of(target.cluster.resourceId).readRemediationPolicy(target),
      putRemediationPolicy: (input) => of(input.cluster.resourceId).putRemediationPolicy(input),
      restoreRemediationPolicy: (input) => of(input.cluster.resourceId).restoreRemediationPolicy(input),
      setDesiredImage: (target) => of(target.cluster.resourceId).setDesiredImage(target),
      readHostBefore: (input) => of(input.cluster.resourceId).readHostBefore(input),
      readRunningVms: (input) => of(input.cluster.resourceId).readRunningVms(input),
      runNetvirtPrechecks: (target) => of(target.netvirt.resourceId).runNetvirtPrechecks(target),
      readNetvirtUpgrade: (target) => of(target.netvirt.resourceId).readNetvirtUpgrade(target),
      putNetvirtSettings: (input) => of(input.netvirt.resourceId).putNetvirtSettings(input),
      restoreNetvirtSettings: (input) => of(input.netvirt.resourceId).restoreNetvirtSettings(input),
      upgradeNetvirtComponent: (input) => of(input.netvirt.resourceId).upgradeNetvirtComponent(input),
      remediateHosts: (input) => of(input.cluster.resourceId).remediateHosts(input),
      restoreHosts: (input) => of(input.cluster.resourceId).restoreHosts(input),
      awaitClusterHealth: (input) => of(input.cluster.resourceId).awaitClusterHealth(input),
      askCheck: (input) => of(input.upgrade.id).askCheck(input),
      deliverNotification: (input) => of(input.notice.data.upgradeId).deliverNotification(input),
      readUpgradeEnd: ({ upgradeId }) => readUpgradeEnd(this.env.client, upgradeId),
      readUpgradeWaits: (input) => of(input.upgradeId).readUpgradeWaits(input),
      readLockHolder: (lock) => of(lock.workflowId.replace(/^[a-z]+\//, "")).readLockHolder(lock),
      readLockHolders: ({ workflowIds }) => this.holdersOf(workflowIds),
    };
  }
}

const benches = new Map<string, Promise<UpgradeBench>>();

/**
 * The bench of a suite, shared by all suites of the run because a server and its worker take a while to start.
 * Registers the hooks that clean up after each test.
 */
export function useBench(kind: "DEV_SERVER" | "TIME_SKIPPING"): () => UpgradeBench {
  let bench: UpgradeBench | undefined;
  before(async function () {
    this.timeout(120_000);
    const starting = benches.get(kind) ?? UpgradeBench.start(kind);
    benches.set(kind, starting);
    bench = await starting;
    if (await bench.answers()) return;
    // The suite in which it broke has failed; those after it need not.
    process.stderr.write("The tests' Temporal server answers no more and is replaced\n");
    void bench.stop().catch(() => undefined);
    const another = UpgradeBench.start(kind);
    benches.set(kind, another);
    bench = await another;
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") process.stderr.write(`${await bench?.explain()}\n`);
    await bench?.clean();
  });
  return () => {
    if (!bench) throw new Error("The bench is there from the before hooks on");
    return bench;
  };
}

if (typeof after === "function")
  after(async () => {
    await Promise.all([...benches.values()].map(async (bench) => (await bench).stop()));
  });

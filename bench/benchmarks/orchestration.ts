import { until } from "../../test/support/service/deployment";
import type { FixtureBenchmark } from "../benchmark";
import type { Fixture, Role } from "../fixture";
import { alternate, median, sum, timed } from "../measure";
import type { Measurement } from "../measurement";
import { processorSeconds } from "../process-usage";
import { planBareUpgrade, runBareUpgrade } from "../reference/bare-upgrade";
import { withReferenceWorker } from "../reference/reference-worker";
import { runUpgrade } from "../upgrades";

/** How often an upgrade with hosts of one duration is run. */
interface Rounds {
  readonly seconds: number;
  readonly quick: number;
  readonly full: number;
}

/** Clusters of one upgrade and hosts of each, and the most that the service may use of a processor, against the reference. */
interface Size {
  readonly clusters: number;
  readonly hosts: number;
  readonly processorTarget: number;
  readonly rounds: readonly Rounds[];
}

/** History events of one host, its share of the Workflows of its cluster and of its upgrade included. */
const eventsTarget = 10;

/** An upgrade of ten clusters with ten hosts. */
export const smallOrchestration: FixtureBenchmark = orchestration({
  clusters: 10,
  hosts: 10,
  processorTarget: 1.6,
  rounds: [
    { seconds: 0, quick: 3, full: 8 },
    { seconds: 2, quick: 1, full: 3 },
  ],
});

/** An upgrade of a thousand hosts. */
export const largeOrchestration: FixtureBenchmark = {
  ...orchestration({
    clusters: 16,
    hosts: 64,
    processorTarget: 1.3,
    rounds: [
      { seconds: 0, quick: 1, full: 3 },
      { seconds: 2, quick: 1, full: 2 },
    ],
  }),
  slow: true,
};

/**
 * An upgrade against bare Workflows of the same shape, with one Activity for each host that makes the same calls to the component
 * manager; with hosts that take no time and with hosts that take some.
 */
function orchestration(size: Size): FixtureBenchmark {
  const { clusters, hosts } = size;
  return {
    name: `orchestration-${clusters}x${hosts}`,
    fleet: () => ({ clusters, hosts }),
    measure: (fixture, { quick }) =>
      withReferenceWorker(fixture, async (referenceWorker) => {
        // The first of each loads code and opens connections.
        await measureService(fixture, size, 0);
        await measureReference(fixture, size, 0, referenceWorker);
        const measured: Measurement[] = [];
        for (const { seconds, ...rounds } of size.rounds) {
          const { ours, reference } = await alternate(
            quick ? rounds.quick : rounds.full,
            () => measureService(fixture, size, seconds),
            () => measureReference(fixture, size, seconds, referenceWorker),
          );
          measured.push(...compare(size, seconds, ours, reference));
        }
        return measured;
      }),
  };
}

/** What one upgrade took. */
interface Usage {
  readonly milliseconds: number;
  /** Seconds of a processor by role. */
  readonly processor: Readonly<Record<Role, number>>;
  readonly calls: number;
  readonly events: number;
  readonly bytes: number;
}

async function measureService(fixture: Fixture, { clusters }: Size, seconds: number): Promise<Usage> {
  await prepare(fixture, seconds);
  const calls = await fixture.managerRequests();
  const processor = startProcessorClock(fixture, fixture.pids("worker"), fixture.pids("api"));
  const { milliseconds, result: id } = await timed(() => runUpgrade(fixture, clusters));
  const used = processor();
  return {
    milliseconds,
    processor: used,
    calls: (await fixture.managerRequests()) - calls,
    ...(await measureHistories(fixture, id, clusters + 1)),
  };
}

async function measureReference(fixture: Fixture, { clusters }: Size, seconds: number, worker: number): Promise<Usage> {
  await prepare(fixture, seconds);
  const plan = await planBareUpgrade(fixture, clusters);
  const processor = startProcessorClock(fixture, [worker], []);
  const { milliseconds, result } = await timed(() => runBareUpgrade(fixture, plan));
  const used = processor();
  const { id, calls } = result;
  return { milliseconds, processor: used, calls, ...(await measureHistories(fixture, id, clusters + 1)) };
}

async function prepare(fixture: Fixture, seconds: number): Promise<void> {
  const { simulator } = fixture;
  await simulator.reset();
  if (seconds > 0) await simulator.setHostDuration(seconds);
  await fixture.untilIdle();
}

/** Returns what tells the seconds of a processor that each role has used since. */
function startProcessorClock(fixture: Fixture, worker: readonly number[], api: readonly number[]) {
  const pids = { worker, api, temporal: fixture.pids("temporal"), database: fixture.pids("database") };
  const read = () => ({
    worker: processorSeconds(pids.worker),
    api: processorSeconds(pids.api),
    temporal: processorSeconds(pids.temporal),
    database: processorSeconds(pids.database),
  });
  const before = read();
  return (): Usage["processor"] => {
    const after = read();
    return {
      worker: after.worker - before.worker,
      api: after.api - before.api,
      temporal: after.temporal - before.temporal,
      database: after.database - before.database,
    };
  };
}

/** The histories of an upgrade and of all its clusters together: so many Workflows, which have ended. */
async function measureHistories({ temporal }: Fixture, id: string, workflows: number) {
  let [closed, events, bytes] = [0, 0, 0];
  // Visibility is a moment behind.
  await until("all Workflows of the upgrade are listed as ended", async () => {
    [closed, events, bytes] = [0, 0, 0];
    const query = `RootWorkflowId = '${id}' AND ExecutionStatus = 'Completed'`;
    for await (const { historyLength, historySize } of temporal.workflow.list({ query })) {
      closed += 1;
      events += historyLength;
      bytes += historySize ?? NaN;
    }
    return closed >= workflows;
  });
  return { events, bytes };
}

function compare(
  { clusters, hosts, processorTarget }: Size,
  seconds: number,
  ours: readonly Usage[],
  reference: readonly Usage[],
): Measurement[] {
  const prefix = `orchestration-${clusters}x${hosts}-${seconds}s`;
  const size = `${clusters} x ${hosts} hosts of ${seconds} s`;
  const perHost = (rounds: readonly Usage[], of: (usage: Usage) => number) =>
    sum(rounds.map(of)) / (rounds.length * clusters * hosts);
  const both = (of: (usage: Usage) => number) => ({ value: perHost(ours, of), reference: perHost(reference, of) });
  const processor = (of: (processor: Usage["processor"]) => number) => both((usage) => of(usage.processor) * 1000);
  const database = processor((used) => used.database);
  return [
    {
      id: `${prefix}-time`,
      title: `Upgrade of ${size}: wall time, p50`,
      value: median(ours.map(({ milliseconds }) => milliseconds)) / 1000,
      reference: median(reference.map(({ milliseconds }) => milliseconds)) / 1000,
      unit: "s",
      judged: "ratio",
      steady: true,
    },
    {
      id: `${prefix}-processor`,
      title: "- processor per host",
      ...processor((used) => used.worker + used.api + used.temporal + used.database),
      unit: "ms",
      judged: "ratio",
      target: { atMost: processorTarget },
      steady: true,
    },
    { ...part("worker"), ...processor((used) => used.worker), judged: "ratio" },
    { ...part("api"), value: processor((used) => used.api).value, judged: "value" },
    { ...part("temporal"), ...processor((used) => used.temporal), judged: "ratio" },
    ...(database.reference > 0 ? [{ ...part("database"), ...database, judged: "ratio" as const }] : []),
    {
      id: `${prefix}-events`,
      title: "- history events per host",
      ...both(({ events }) => events),
      unit: "events",
      judged: "value",
      target: { atMost: eventsTarget },
      steady: true,
    },
    {
      id: `${prefix}-history`,
      title: "- history per host",
      ...both(({ bytes }) => bytes / 1024),
      unit: "KB",
      judged: "value",
    },
    {
      id: `${prefix}-calls`,
      title: "- calls to the component manager per host",
      ...both(({ calls }) => calls),
      unit: "calls",
      judged: "ratio",
    },
  ];

  function part(role: Role) {
    return { id: `${prefix}-processor-${role}`, title: `- - of ${roleNames[role]}`, unit: "ms" };
  }
}

const roleNames: Readonly<Record<Role, string>> = {
  api: "the API",
  worker: "the worker",
  temporal: "Temporal",
  database: "the database",
};

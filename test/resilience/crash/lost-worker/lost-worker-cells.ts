import type { ServiceUnderTest } from "../../../support/service/service-under-test";
import { type Change, changes } from "./changes";
import { type Loss, type Moment, moments, runCell } from "./run-cell";
import type { TwoWorkers } from "./two-workers";

/** LOST_WORKER_CELLS: `all`, or the name of one. LOST_WORKER_LANES: how many services run cells at once. */
const { LOST_WORKER_CELLS, LOST_WORKER_LANES = "4" } = process.env;

interface Cell {
  readonly name: string;
  readonly change: Change;
  readonly moment: Moment;
}

/** A service, and how a worker of it is lost. */
export interface Lane {
  readonly workers: TwoWorkers;
  readonly lose: (service: ServiceUnderTest) => Loss;
}

interface Suite {
  /** The moments that make sense for this way of being lost. */
  readonly moments: readonly Moment[];
  /** Of how many kinds of change one is in every run, at one of its moments. */
  readonly oneOf: number;
  /** The name of the suite. */
  readonly suite: string;
  startLane(index: number): Promise<Lane>;
  /** Called when all lanes have been discarded. */
  end?(): Promise<unknown>;
}

/** Defines a test for each cell that is asked for; cells run side by side, because they mostly wait. */
export function lostWorkerCells({ moments: possible, oneOf, suite, startLane, end }: Suite): void {
  const all = changes.flatMap((change, i) => {
    const fitting = Object.entries(moments).filter(([, moment]) => possible.includes(moment) && fits(change, moment));
    return fitting.map(([when, moment], j) => {
      return {
        name: `${change.name} ${when}`,
        change,
        moment,
        inEveryRun: i % oneOf === 0 && j === (i / oneOf) % fitting.length,
      };
    });
  });
  const cells = all.filter(({ name, inEveryRun }) =>
    LOST_WORKER_CELLS === undefined ? inEveryRun : LOST_WORKER_CELLS === "all" || LOST_WORKER_CELLS === name,
  );
  const lanes: Lane[] = [];
  const outcomes = new Map<Cell, Promise<unknown>>();

  before(async () => {
    const many = Math.min(Number(LOST_WORKER_LANES), cells.length);
    lanes.push(...(await Promise.all(Array.from({ length: many }, (_, i) => startLane(i)))));
    const settle = new Map<Cell, (outcome: unknown) => void>();
    for (const cell of cells) outcomes.set(cell, new Promise((resolve) => settle.set(cell, resolve)));
    const waiting = [...cells];
    const drain = async ({ workers, lose }: Lane) => {
      const { service } = workers;
      for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
        const outcome = await runCell(service, cell.change, cell.moment, lose(service)).then(
          () => undefined,
          (error: unknown) => error ?? new Error("failed"),
        );
        if (outcome !== undefined) await workers.clear();
        settle.get(cell)?.(outcome);
      }
    };
    void Promise.all(lanes.map(drain));
  });
  after(async () => {
    await Promise.all(outcomes.values());
    await Promise.all(lanes.map(({ workers }) => workers.discard()));
    await end?.();
  });

  for (const cell of cells)
    it(cell.name, async () => {
      const outcome = await outcomes.get(cell);
      if (outcome === undefined) return;
      const again = `LOST_WORKER_CELLS='${cell.name}' npm test -- ${suite}`;
      throw new Error(`${outcome instanceof Error ? outcome.message : String(outcome)}\nAgain: ${again}`, {
        cause: outcome,
      });
    });
}

function fits({ busy, byCancelling }: Change, moment: Moment): boolean {
  if (moment === "BUSY") return busy !== undefined;
  return moment !== "CANCELLED" || byCancelling === undefined;
}

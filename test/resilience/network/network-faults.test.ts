import { expect } from "chai";
import { databaseProxy } from "./database-proxy";
import { cellsOf, type Cell } from "./cells";
import { NetworkLane } from "./network-lane";
import { runCell } from "./run-cell";
import { Toxiproxy, type Proxy } from "./toxiproxy";

/** NETWORK_SEED decides moments and sizes. NETWORK_CELLS: `all`, `long`, or names. NETWORK_LANES: at once. */
const { NETWORK_SEED = "1", NETWORK_CELLS, NETWORK_LANES = "4" } = process.env;
const seed = Number(NETWORK_SEED);
const cells = cellsOf(NETWORK_CELLS);
const ofAll = ({ pair }: Cell) => pair.link === "temporalToPostgresql";

/**
 * Most of a fault is waiting, so cells run side by side, each in a lane of its own; its test waits for it. A fault of the
 * database concerns all lanes: those cells come last, and one by one.
 */
describe("A fault of the network between", function () {
  this.timeout(30 * 60_000);
  let toxiproxy: Toxiproxy;
  let database: Proxy;
  const lanes: NetworkLane[] = [];
  const outcomes = new Map<Cell, Promise<unknown>>();

  before(async () => {
    toxiproxy = await Toxiproxy.start(seed);
    database = await databaseProxy();
    const many = Math.min(Number(NETWORK_LANES), Math.max(1, cells.filter((cell) => !ofAll(cell)).length));
    lanes.push(
      ...(await Promise.all(Array.from({ length: many }, (_, i) => NetworkLane.start(toxiproxy, `lane-${i}`)))),
    );
    beginAll();
  });
  after(async () => {
    await Promise.all([...outcomes.values()]);
    await Promise.all(lanes.map((lane) => lane.discard()));
    await toxiproxy.stop();
  });

  /** Begins all cells, each as soon as a lane is free for it. */
  function beginAll(): void {
    const waiting = cells.filter((cell) => !ofAll(cell));
    const settle = new Map<Cell, (outcome: unknown) => void>();
    for (const cell of cells) outcomes.set(cell, new Promise((resolve) => settle.set(cell, resolve)));
    const run = async (cell: Cell, lane: NetworkLane) => {
      const proxy = cell.pair.link === "temporalToPostgresql" ? database : lane.proxies[cell.pair.link];
      const outcome: unknown = await runCell(cell, lane, proxy, seed).then(
        () => undefined,
        (error: unknown) => error ?? new Error("failed"),
      );
      if (outcome !== undefined) await database.heal().then(() => lane.clear());
      settle.get(cell)?.(outcome);
    };
    const drain = async (lane: NetworkLane) => {
      for (let cell = waiting.shift(); cell; cell = waiting.shift()) await run(cell, lane);
    };
    void Promise.all(lanes.map(drain)).then(async () => {
      for (const cell of cells.filter(ofAll)) if (lanes[0]) await run(cell, lanes[0]);
    });
  }

  for (const cell of cells)
    it(`${cell.name} (seed ${seed})`, async () => {
      const outcome = await outcomes.get(cell);
      if (outcome === undefined) return;
      const again = `NETWORK_SEED=${seed} NETWORK_CELLS='${cell.name}' npm test -- resilience/network`;
      throw new Error(`${outcome instanceof Error ? outcome.message : String(outcome)}\nAgain: ${again}`, {
        cause: outcome,
      });
    });

  it("anything leaves histories that replay, all of them", async () => {
    expect((await Promise.all(lanes.map(({ service }) => service.unsoundHistories()))).flat()).to.deep.equal([]);
  });
});

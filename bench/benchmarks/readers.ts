import type { FixtureBenchmark } from "../benchmark";
import type { Fixture } from "../fixture";
import { getTask } from "../get-task";
import { alternate, percentile, timed } from "../measure";
import { startLongUpgrades, terminateUpgrades } from "../upgrades";

const readerCount = 32;
const everyMilliseconds = 1000;

/** Many who follow one running upgrade against one who does. */
export const readers: FixtureBenchmark = {
  name: "readers",
  slow: true,
  fleet: () => ({ clusters: 20, hosts: 10 }),
  measure: async (fixture, { quick }) => {
    const clusters = 10;
    const [id = ""] = await startLongUpgrades(fixture, clusters);
    const errors: unknown[] = [];
    const seconds = quick ? 8 : 15;
    const { ours, reference } = await alternate(
      quick ? 1 : 4,
      () =>
        Promise.all(Array.from({ length: readerCount }, (_, i) => readEachSecond(fixture, id, i, { seconds, errors }))),
      async () => {
        const alone: number[] = [];
        // Without a pause, so that one reader gives as many numbers as its p99 needs.
        const until = Date.now() + seconds * 1000;
        while (Date.now() < until) alone.push((await timed(() => getTask(fixture.service.apiUrl, id))).milliseconds);
        return alone;
      },
    );
    await terminateUpgrades(fixture);
    const p99 = percentile(ours.flat(2), 0.99);
    const size = `${readerCount} readers at 1 s, ${clusters} x ${fixture.fleet.hosts} hosts`;
    return [
      {
        id: "readers-p99",
        title: `GET Task, ${size}, p99`,
        value: p99,
        unit: "ms",
        judged: "value",
        target: { atMost: 250 },
      },
      {
        id: "readers-against-one",
        title: `The same against one reader`,
        value: p99,
        reference: percentile(reference.flat(), 0.99),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 4 },
      },
      {
        id: "readers-errors",
        title: "Reads of those that failed",
        value: errors.length,
        unit: "",
        judged: "value",
        target: { atMost: 0 },
      },
    ];
  },
};

async function readEachSecond(
  fixture: Fixture,
  id: string,
  reader: number,
  { seconds, errors }: { readonly seconds: number; readonly errors: unknown[] },
): Promise<number[]> {
  const each: number[] = [];
  // Readers begin when they like: spread over the second.
  const began = Date.now() + (reader / readerCount) * everyMilliseconds;
  for (let at = began; at < began + seconds * 1000; at += everyMilliseconds) {
    await new Promise((resume) => setTimeout(resume, Math.max(0, at - Date.now())));
    await timed(() => getTask(fixture.service.apiUrl, id)).then(
      ({ milliseconds }) => each.push(milliseconds),
      (error: unknown) => errors.push(error),
    );
  }
  return each;
}

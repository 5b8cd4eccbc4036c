import { expect } from "chai";
import { type Visibility, VisibilityReader } from "../../../src/temporal/visibility";

/** Visibility over a list that can grow at its front; a token is the run that was last given, as in SQL stores. */
class FakeVisibility implements Visibility {
  /** Bytes of the memo of each. */
  memoSize = 2_000_000;
  /** Every call: where it began and how many it asked for. */
  readonly calls: [at: number, size: number][] = [];
  constructor(public ids: string[]) {}

  count(): Promise<number> {
    return Promise.resolve(this.ids.length);
  }

  list(_query: string, size: number, token: Uint8Array | undefined) {
    const at = token === undefined ? 0 : this.ids.indexOf(Buffer.from(token).toString()) + 1;
    this.calls.push([at, size]);
    const ids = this.ids.slice(at, at + size);
    const memo = { fields: { task: { data: { length: this.memoSize } as Uint8Array } } };
    const executions = ids.map((workflowId) => ({ execution: { workflowId }, memo }));
    const last = ids.at(-1);
    return Promise.resolve({ executions, nextToken: ids.length === size && last ? Buffer.from(last) : undefined });
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `run-${i}`);

describe("VisibilityReader", () => {
  let visibility: FakeVisibility;
  let reader: VisibilityReader;
  let now = 0;
  beforeEach(() => {
    visibility = new FakeVisibility(numbered(490));
    reader = new VisibilityReader(visibility, () => now);
  });

  const read = async (first: number, size: number, query = "q") =>
    (await reader.read(query, first, size)).map(({ execution }) => execution?.workflowId);

  it("gives any part of a list, and what there is of a part beyond its end", async () => {
    for (const [first, size] of [
      [0, 1000],
      [0, 3],
      [487, 3],
      [488, 100],
      [123, 250],
      [490, 10],
      [4900, 10],
    ] as const) {
      expect(await read(first, size), `${size} from ${first}`).to.deep.equal(visibility.ids.slice(first, first + size));
    }
  });

  const sizes = () => visibility.calls.map(([, size]) => size);

  it("asks for at most fifty at once where their memos are as large as may be, which fit into one message", async () => {
    await read(0, 120);
    expect(sizes()).to.deep.equal([50, 50, 20]);
  });

  it("asks for four times as many where memos are small, up to what the server gives", async () => {
    [visibility.ids, visibility.memoSize] = [numbered(3000), 2_000];
    expect((await read(0, 3000)).length).to.equal(3000);
    expect(sizes()).to.deep.equal([50, 200, 800, 1000, 950]);
    visibility.memoSize = 100_000;
    visibility.calls.length = 0;
    await read(0, 2000, "another");
    expect(sizes()).to.deep.equal([1000, 167, 167, 167, 167, 167, 165]);
  });

  it("asks for fifty again where an answer was too large", async () => {
    [visibility.ids, visibility.memoSize] = [numbered(400), 2_000];
    await read(0, 100);
    const { list } = visibility;
    visibility.list = (query, size, token) => {
      if (size <= 50) return list.call(visibility, query, size, token);
      visibility.calls.push([-1, size]);
      return Promise.reject(Object.assign(new Error("8 RESOURCE_EXHAUSTED"), { code: 8, details: "", metadata: {} }));
    };
    visibility.calls.length = 0;
    expect(await read(100, 300)).to.deep.equal(visibility.ids.slice(100));
    expect(visibility.calls.slice(0, 2)).to.deep.equal([
      [-1, 300],
      [100, 50],
    ]);
  });

  it("reaches a far page in large steps", async () => {
    expect(await read(160, 3)).to.deep.equal(["run-160", "run-161", "run-162"]);
    expect(visibility.calls).to.deep.equal([
      [0, 50],
      [50, 50],
      [100, 50],
      [150, 13],
    ]);
  });

  it("reads page after page with one call each", async () => {
    for (let page = 0; page < 100; page++) await read(page * 3, 3);
    expect(visibility.calls).to.deep.equal(Array.from({ length: 100 }, (_, page) => [page * 3, 3]));
  });

  it("begins at the nearest place that it knows of the same query", async () => {
    await read(0, 100);
    visibility.calls.length = 0;
    await read(130, 3);
    await read(130, 3, "another");
    expect(visibility.calls.map(([at]) => at)).to.deep.equal([100, 0, 50, 100]);
  });

  it("walks again when what it knows is old, since the list has moved", async () => {
    await read(0, 100);
    visibility.ids = ["new-1", "new-2", ...visibility.ids];
    now += 60_000;
    expect(await read(100, 2)).to.deep.equal(["run-98", "run-99"]);
  });

  it("takes one walk for all who go the same way at the same time", async () => {
    const pages = await Promise.all(Array.from({ length: 300 }, (_, page) => read(300 + (page % 10), 3)));
    expect(pages[9]).to.deep.equal(["run-309", "run-310", "run-311"]);
    // Six steps that all share, and one to each of ten pages.
    expect(visibility.calls).to.have.length(16);
  });

  it("passes a failure to all who wait for it, and asks anew afterwards", async () => {
    const { list } = visibility;
    visibility.list = () => Promise.reject(new Error("away"));
    const outcomes = await Promise.allSettled([read(0, 3), read(0, 3)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    visibility.list = list;
    expect(await read(0, 1)).to.deep.equal(["run-0"]);
  });
});

import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";

interface Suite {
  readonly name: string;
  readonly also: readonly string[];
}
interface Script {
  readonly suiteNames: readonly string[];
  suitesNamed(names: readonly string[]): { chosen?: readonly Suite[]; unknown?: string };
  filesOfSuite(suite: Suite, files: readonly string[]): string[];
  lanesOf(chosen: readonly Suite[]): Suite[][];
}
const script = resolve(__dirname, "../../../scripts/suites.mjs");
const tests = readdirSync(resolve(__dirname, "../.."), { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".test.ts"),
);

describe("the suites", () => {
  let suites: Script;
  before(async () => {
    suites = (await import(script)) as Script;
  });
  const named = (...names: string[]) => suites.suitesNamed(names).chosen ?? [];

  it("have every test file, each in the suite of the nearest folder", () => {
    const own = named(...suites.suiteNames).map((suite) => suites.filesOfSuite({ ...suite, also: [] }, tests));
    expect(own.flat().sort()).to.deep.equal([...tests].sort());
    expect(own.filter(({ length }) => length === 0)).to.deep.equal([]);
  });

  it("take tests of another suite only where there are such", () => {
    for (const suite of named(...suites.suiteNames)) {
      const files = suites.filesOfSuite(suite, tests);
      expect(files).to.include.members(suite.also.map((name) => `${name}.test.ts`));
    }
  });

  it("are run by the name of their folder, or of one above it", () => {
    expect(named("workflow/replay").map(({ name }) => name)).to.deep.equal(["workflow/replay"]);
    expect(named("workflow").map(({ name }) => name)).to.deep.equal([
      "workflow/replay",
      "workflow",
      "workflow/clusters",
      "workflow/failures",
    ]);
    expect(named("interop", "interop/contract").map(({ name }) => name)).to.have.length(2);
    expect(suites.suitesNamed(["unit", "system"])).to.deep.equal({ unknown: "system" });
  });

  it("run each once, in lanes", () => {
    const all = named(...suites.suiteNames);
    const inLanes = suites.lanesOf(all).flat();
    expect(inLanes.map(({ name }) => name).sort()).to.deep.equal([...suites.suiteNames].sort());
    expect(suites.lanesOf(named("unit"))).to.have.length(1);
  });
});

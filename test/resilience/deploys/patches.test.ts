import { readFileSync } from "node:fs";
import type { WorkflowBundle } from "@temporalio/worker";
import { expect } from "chai";
import { patchesIn, patchIds, patchIdsOf, sidesNotHeld } from "../../workflow/replay/patches";
import { recordStory } from "../../workflow/replay/recording";
import { changedBundle, productionBundlePath } from "../../workflow/replay/replay";
import { storedHistories, storedHistory, type StoredHistory } from "../../workflow/replay/stored-histories";
import { stories } from "../../workflow/replay/stories";
import { quiet, type WorkerBuild } from "../../support/workflow-environment";
import { madePatch } from "./made-patch";

before(quiet);

describe("Patches of the Workflows", function () {
  this.timeout(240_000);

  it("are found in the code", () => {
    expect(patchIdsOf('import { patched } from "x"; if (patched("a")) wf.deprecatePatch("b");', "x.ts")).to.deep.equal([
      "a",
      "b",
    ]);
    expect(() => patchIdsOf("patched(id)", "x.ts")).to.throw("x.ts: the id of a patch is to be written out");
  });

  it("have each a history that was recorded with it, and every marker in a history has its patch", async () => {
    const markers = [...new Set(storedHistories().flatMap(({ history }) => patchesIn(history)))].sort();
    expect(markers).to.deep.equal(await patchIds());
  });

  it("have each a history that breaks on the old side, and one that breaks on the new side", async () => {
    const bundle = { code: readFileSync(await productionBundlePath(), "utf8") };
    const stored = storedHistories();
    const notHeld: Record<string, readonly string[]> = {};
    for (const id of await patchIds()) {
      const sides = await sidesNotHeld(id, bundle, stored);
      if (sides.length > 0) notHeld[id] = sides;
    }
    expect(notHeld).to.deep.equal({});
  });
});

describe("Of a patch that is made here, stored histories hold", function () {
  this.timeout(240_000);
  let patched: WorkflowBundle;
  let unmarked: readonly StoredHistory[];
  let marked: readonly StoredHistory[];

  before(async () => {
    patched = await changedBundle(madePatch.change);
    unmarked = await recorded();
    marked = await recorded({ bundle: patched });
  });

  it("both sides where one was recorded before it and one after", async () => {
    expect(marked.flatMap(({ history }) => patchesIn(history))).to.deep.equal([madePatch.id]);
    expect(await sidesNotHeld(madePatch.id, patched, [...unmarked, ...marked])).to.deep.equal([]);
  });

  it("not the old side where none was recorded before it", async () => {
    expect(await sidesNotHeld(madePatch.id, patched, marked)).to.deep.equal(["old"]);
  });

  it("not the new side where none was recorded after it", async () => {
    expect(await sidesNotHeld(madePatch.id, patched, unmarked)).to.deep.equal(["new"]);
  });

  it("neither where none comes as far as the patch", async () => {
    const upgrades = unmarked.filter(({ part }) => part === "upgrade");
    expect(upgrades).to.have.length(1);
    expect(await sidesNotHeld(madePatch.id, patched, upgrades)).to.deep.equal(["new", "old"]);
  });
});

/** A story told by today's Workflows, or by those of another build. */
async function recorded(build?: WorkerBuild): Promise<StoredHistory[]> {
  const name = "health-gate";
  const histories = await recordStory(name, stories[name]!, build);
  return [...histories].map(([part, history]) => storedHistory({ folder: "made here", story: name, part }, history));
}

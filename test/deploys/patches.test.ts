import { DefaultLogger, Runtime } from "@temporalio/worker";
import { expect } from "chai";
import { bundleWithSide, patchesIn, patchIds, patchIdsOf } from "../replay/patches";
import { replayAll } from "../replay/replay";
import { storedHistories, type StoredHistory } from "../replay/stored-histories";

interface Excuse {
  readonly id: string;
  readonly side: "old" | "new";
  readonly because: string;
}

/** Patches of which no stored history needs one side, and why that is so. Another test has to go through that side. */
const unrecorded: readonly Excuse[] = [
  {
    id: "notifications",
    side: "old",
    because:
      "It takes a worker that is older than its API. The replay suite gives receivers to plans that earlier builds have begun, and the tests of deployments have one begun by such a worker.",
  },
  {
    id: "requests-take-effect-once",
    side: "new",
    because:
      "Its history ends with the repetition, and what a Workflow asks for after the last event of a history is not compared.",
  },
];

describe("Patches of the Workflows", function () {
  this.timeout(240_000);
  const stored = storedHistories();
  const nameOf = ({ folder, story, part }: StoredHistory) => `${folder}/${story}.${part}`;
  let ids: string[];

  before(async () => {
    const logger = new DefaultLogger("ERROR", () => undefined);
    Runtime.install({ logger, telemetryOptions: { logging: { filter: "OFF" } } });
    ids = await patchIds();
  });

  /** Which of these histories do not replay where the patch always takes this side. */
  async function needing(id: string, side: "old" | "new", histories: readonly StoredHistory[]): Promise<string[]> {
    const results = await replayAll(await bundleWithSide(id, side), histories);
    return histories.filter(({ runId }) => results.get(runId) !== undefined).map(nameOf);
  }

  it("are found in the code", () => {
    expect(ids).to.include.members(["pause-resume-prechecks", "notifications"]);
    expect(patchIdsOf('import { patched } from "x"; if (patched("a")) wf.deprecatePatch("b");', "x.ts")).to.deep.equal([
      "a",
      "b",
    ]);
    expect(() => patchIdsOf("patched(id)", "x.ts")).to.throw("x.ts: the id of a patch is to be written out");
  });

  it("have each a history that was recorded with it, and every marker in a history has its patch", () => {
    const markers = [...new Set(stored.flatMap(({ history }) => patchesIn(history)))].sort();
    expect(markers).to.deep.equal(ids);
  });

  const excused = (one: "old" | "new") => unrecorded.filter(({ side }) => side === one).map(({ id }) => id);

  it("break, each, every history that was recorded with it when it takes the old side, or say why not", async () => {
    const unproven: string[] = [];
    for (const id of ids) {
      const withIt = stored.filter(({ history }) => patchesIn(history).includes(id));
      if ((await needing(id, "old", withIt)).length < withIt.length) unproven.push(id);
    }
    expect(unproven).to.deep.equal(excused("new"));
  });

  it("break, each, a history that was recorded without it when it takes the new side, or say why there is none", async () => {
    const upgrades = stored.filter(({ workflowType }) => workflowType !== "notifyWorkflow");
    const without = upgrades.filter(({ history }) => patchesIn(history).length === 0);
    const unproven: string[] = [];
    for (const id of ids) {
      if ((await needing(id, "new", without)).length > 0) continue;
      // A later patch may need a history that has the markers of earlier ones.
      const others = upgrades.filter(
        ({ history }) => !patchesIn(history).includes(id) && patchesIn(history).length > 0,
      );
      if ((await needing(id, "new", others)).length === 0) unproven.push(id);
    }
    expect(unproven).to.deep.equal(excused("old"));
  });
});

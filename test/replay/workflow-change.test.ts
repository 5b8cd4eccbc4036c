import { expect } from "chai";
import { acceptedWorkflow, refusals, whatToDo, type ChangeFacts } from "./accepted-workflow";
import { patchIds } from "./patches";
import { codeDigest, sourceChanges, workflowSources } from "./workflow-sources";

describe("The code of the Workflows", function () {
  this.timeout(60_000);

  it("is what was accepted last", async () => {
    const accepted = acceptedWorkflow();
    const toDo = whatToDo(accepted, await workflowSources());
    if (toDo !== undefined) throw new Error(toDo);
    expect(accepted.patches).to.deep.equal(await patchIds());
  });

  it("is all that a worker's Workflow bundle is made of, with the packages in it", async () => {
    const { files, packages } = await workflowSources();
    expect(files).to.include.keys(
      "workflows/upgrade-workflow.ts",
      "workflows/notify-workflow.ts",
      "workflows/task-id-interceptors.ts",
      "src/domain/rollout.ts",
      "src/domain/upgrade-request.ts",
    );
    expect(Object.keys(files).filter((path) => !/^(workflows|src\/domain)\//.test(path))).to.deep.equal([]);
    expect(packages).to.include.keys("@temporalio/workflow", "fp-ts", "io-ts");
  });

  it("is another one where a statement is, and the same where comments, types and layout are", async () => {
    const digest = await codeDigest("export async function f(n: number) {\n  await g(n);\n  await h();\n}");
    expect(
      await codeDigest(
        "/** What it does. */\nexport async function f(n: 1 | 2): Promise<void> { await g(n); await h() }",
      ),
    ).to.equal(digest);
    for (const other of [
      "export async function f(n: number) {\n  await h();\n  await g(n);\n}",
      "export async function f(n: number) {\n  await g(n + 1);\n  await h();\n}",
    ])
      expect(await codeDigest(other)).to.not.equal(digest);
  });

  it("names what differs and says what to do", () => {
    const accepted = { files: { "workflows/a.ts": "1", "workflows/b.ts": "2" }, packages: { "io-ts": "2.2.22" } };
    const now = { files: { "workflows/a.ts": "9", "workflows/c.ts": "3" }, packages: { "io-ts": "2.2.23" } };
    expect(sourceChanges(accepted, now)).to.deep.equal([
      "changed: workflows/a.ts",
      "removed: workflows/b.ts",
      "added: workflows/c.ts",
      "changed: io-ts",
    ]);
    expect(whatToDo(accepted, accepted)).to.equal(undefined);
    expect(whatToDo(accepted, now)).to.include("changed: workflows/a.ts").and.include("accept-workflow-change.ts");
  });

  describe("is accepted", () => {
    const facts: ChangeFacts = {
      claim: { sameCommands: true },
      accepted: { patches: ["old"] },
      patches: ["old"],
      broken: [],
      markers: new Map([["old", 3]]),
    };
    const withNew = { ...facts, patches: ["new", "old"], claim: { patched: "new" } };

    it("where all histories replay and no patch is new", () => expect(refusals(facts)).to.deep.equal([]));

    it("where a new patch has a history", () =>
      expect(refusals({ ...withNew, markers: new Map([["new", 1]]) })).to.deep.equal([]));

    const refused: Readonly<Record<string, readonly [ChangeFacts, string]>> = {
      "where a history breaks": [{ ...facts, broken: ["0.1.0/two-clusters.upgrade"] }, "0.1.0/two-clusters.upgrade"],
      "where a new patch has no history": [withNew, "No stored history has the marker"],
      "where a new patch is called no change": [
        { ...withNew, claim: { sameCommands: true }, markers: new Map([["new", 1]]) },
        "say --patched new",
      ],
      "where the patch is an old one": [{ ...facts, claim: { patched: "old" } }, "was accepted before"],
      "where there is no such patch": [{ ...facts, claim: { patched: "none" } }, 'No Workflow calls patched("none")'],
    };
    for (const [when, [change, reason]] of Object.entries(refused))
      it(`not ${when}`, () => {
        const reasons = refusals(change);
        expect(reasons).to.have.length(1);
        expect(reasons[0]).to.include(reason);
      });
  });
});

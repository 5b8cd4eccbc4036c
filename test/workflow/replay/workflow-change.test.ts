import { expect } from "chai";
import { version } from "../../../package.json";
import { acceptedWorkflow, refusals, whatToDo, type ChangeFacts } from "./accepted-workflow";
import { patchIds } from "./patches";
import { codeDigest, sourceChanges, workflowSources } from "./workflow-sources";

describe("The code of the Workflows", function () {
  this.timeout(60_000);

  it("is what was accepted last", async () => {
    const accepted = acceptedWorkflow();
    const toDo = whatToDo(version, accepted, await workflowSources());
    if (toDo !== undefined) throw new Error(toDo);
    expect(accepted.patches).to.deep.equal(await patchIds());
  });

  it("is all that a worker's Workflow bundle is made of, with the packages in it", async () => {
    const { files, packages } = await workflowSources();
    expect(files).to.include.keys(
      "workflows/upgrade/upgrade-workflow.ts",
      "workflows/notifications/notify-workflow.ts",
      "workflows/task-id-interceptors.ts",
      "src/domain/plan/upgrade-plan.ts",
      "src/domain/requests/upgrade-request.ts",
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
    for (const [release, claims] of Object.entries({
      "0.9.3": ["--recorded-anew", "--same-commands"],
      "1.0.0": ["--patched ID", "--same-commands"],
    })) {
      expect(whatToDo(release, accepted, accepted)).to.equal(undefined);
      const toDo = whatToDo(release, accepted, now) ?? "";
      expect(toDo).to.include("  changed: workflows/a.ts\n");
      const accepting = toDo.split("\n").filter((line) => line.includes("accept-workflow-change.ts"));
      expect(accepting.map((line) => /--\S+( ID)?(?= --because)/.exec(line)?.[0])).to.deep.equal(claims);
    }
  });

  describe("is accepted", () => {
    const facts: ChangeFacts = {
      version: "1.0.0",
      claim: { sameCommands: true },
      accepted: { patches: ["old"] },
      patches: ["old"],
      broken: [],
      markers: new Map([["old", 3]]),
    };
    const withNew = { ...facts, patches: ["new", "old"], claim: { patched: "new" } };
    const recordedAnew: ChangeFacts = { ...facts, version: "0.9.3", claim: { recordedAnew: true } };
    const broken = ["1.0.0/two-clusters.upgrade"];

    const taken: Readonly<Record<string, ChangeFacts>> = {
      "where all histories replay and no patch is new": facts,
      "where a new patch has a history": { ...withNew, markers: new Map([["new", 1]]) },
      "before 1.0.0, where all histories are recorded anew": recordedAnew,
      "before 1.0.0, where it asks for the same": { ...facts, version: "0.9.3" },
      "before 1.0.0, where it is patched all the same": {
        ...withNew,
        version: "0.9.3",
        markers: new Map([["new", 1]]),
      },
    };
    for (const [when, change] of Object.entries(taken))
      it(when, () => {
        expect(refusals(change)).to.deep.equal([]);
      });

    const refused: Readonly<Record<string, readonly [ChangeFacts, string]>> = {
      "where a history breaks": [{ ...facts, broken }, "Put what changes commands behind patched()"],
      "where histories are recorded anew": [
        { ...recordedAnew, version: "1.0.0" },
        "From 1.0.0 on stored histories stay",
      ],
      "before 1.0.0, where a history breaks that was to be recorded anew": [
        { ...recordedAnew, broken },
        "1.0.0/two-clusters.upgrade): record all of them anew",
      ],
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

import { expect } from "chai";
import { LastAnswers } from "../../../src/temporal/last-answers";
import type { Memo } from "../../../src/temporal/memo";

describe("the last answers of Workflows", () => {
  const memo = (text: string): Memo => ({ fields: { task: { data: Buffer.from(text) } } });

  it("are good for as long as nothing was published since", () => {
    const answers = new LastAnswers<string>(2);
    answers.remember("run", "answer", memo("running"));
    expect(answers.recall("run", memo("running"))).to.equal("answer");
    expect(answers.recall("run", memo("paused")), "published since").to.equal(undefined);
    expect(answers.recall("other", memo("running"))).to.equal(undefined);
    expect(answers.latest("run"), "however old").to.equal("answer");
  });

  it("are forgotten when the Workflow has ended, and the oldest where there are too many", () => {
    const answers = new LastAnswers<number>(2);
    for (const [i, key] of ["a", "b", "a", "c"].entries()) answers.remember(key, i, undefined);
    expect(["a", "b", "c"].map((key) => answers.latest(key))).to.deep.equal([2, undefined, 3]);
    answers.forget("a");
    expect(answers.latest("a")).to.equal(undefined);
  });
});

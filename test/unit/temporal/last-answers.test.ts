import { expect } from "chai";
import { QueryCache } from "../../../src/temporal/query-cache";

describe("the last answers of Workflows", () => {
  const described = (version?: string, runId = "run") => ({ version, runId });

  it("are current for as long as nothing has happened to the Workflow", () => {
    const answers = new QueryCache<string>(2, () => 1);
    answers.remember("run", "answer", described("run/7"));
    expect(answers.current("run", described("run/7"))).to.equal("answer");
    expect(answers.current("run", described("run/8")), "one event later").to.equal(undefined);
    expect(answers.current("run", described("reset/7")), "another run").to.equal(undefined);
    expect(answers.current("other", described("run/7"))).to.equal(undefined);
  });

  it("are never current where the server does not count events", () => {
    const answers = new QueryCache<string>(2, () => 1);
    answers.remember("run", "answer", described());
    expect(answers.current("run", described())).to.equal(undefined);
  });

  it("are the next best, unless something was published since", () => {
    const answers = new QueryCache<string>(2, () => 1);
    answers.remember("run", "answer", described("run/7"), 3);
    expect(answers.recall("run", described(), 3)?.answer).to.equal("answer");
    expect(
      answers.recall("run", described(), 2)?.answer,
      "published before it answered, and after it was described",
    ).to.equal("answer");
    expect(answers.recall("run", described(), 4), "published since").to.equal(undefined);
    expect(answers.recall("other", described(), 3)).to.equal(undefined);
    expect(answers.recall("run", described("reset/2", "reset"), 1), "of a run that was reset").to.equal(undefined);
    expect(answers.latest("run"), "however old").to.equal("answer");
  });

  it("are forgotten when nobody will ask, and where they are too large together those that were read first", () => {
    const answers = new QueryCache<number>(5, (size) => size);
    const known = () => ["a", "b", "c", "d"].filter((key) => answers.latest(key) !== undefined);
    answers.remember("a", 1, described("a/1"));
    answers.remember("b", 2, described("b/1"));
    answers.remember("c", 2, described("c/1"));
    expect(known()).to.deep.equal(["a", "b", "c"]);
    answers.remember("a", 2, described("a/2"));
    expect(known(), "a is newer than b").to.deep.equal(["a", "c"]);
    answers.current("a", described("a/2"));
    answers.remember("d", 2, described("d/1"));
    expect(known(), "a was read after c").to.deep.equal(["a", "d"]);
    answers.recall("a", described());
    answers.remember("b", 1, described("b/1"));
    answers.remember("c", 2, described("c/1"));
    expect(known(), "a was recalled after d").to.deep.equal(["a", "b", "c"]);
    answers.forget("b");
    answers.forget("c");
    answers.remember("d", 2, described("d/1"));
    answers.forget("a");
    answers.remember("c", 3, described("c/1"));
    expect(known(), "what is forgotten takes no room").to.deep.equal(["c", "d"]);
    answers.remember("b", 6, described("b/1"));
    expect(known(), "larger than all that is kept").to.deep.equal([]);
  });
});

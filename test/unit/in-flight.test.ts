import { expect } from "chai";
import { SingleFlight } from "../../src/single-flight";
import { controlled } from "../support/controlled-work";

describe("InFlight", () => {
  it("does the same work once for all who ask while it is done, and anew afterwards", async () => {
    const { work, ends } = controlled();
    const inFlight = new SingleFlight<string>();
    const both = Promise.all([inFlight.share("a", work), inFlight.share("a", work)]);
    expect(ends).to.have.length(1);
    ends[0]?.("first");
    expect(await both).to.deep.equal(["first", "first"]);
    void inFlight.share("a", work);
    expect(ends).to.have.length(2);
  });

  it("passes a failure to all who share it, and tries again afterwards", async () => {
    const inFlight = new SingleFlight<string>();
    const failing = () => Promise.reject(new Error("down"));
    const outcomes = await Promise.allSettled([inFlight.share("a", failing), inFlight.share("a", failing)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(await inFlight.share("a", () => Promise.resolve("up"))).to.equal("up");
  });
});

import { expect } from "chai";
import { CoalescedCalls } from "../../src/coalesced-calls";
import { controlled } from "../support/controlled-work";

describe("InTurn", () => {
  it("gives nobody what began before they asked: they share what begins when that has ended", async () => {
    const { work, ends } = controlled();
    const inTurn = new CoalescedCalls<string>();
    const before = inTurn.share("a", work);
    const both = [inTurn.share("a", work), inTurn.share("a", work)];
    expect(ends, "one at a time").to.have.length(1);
    ends[0]?.("old");
    expect(await before).to.equal("old");
    const later = inTurn.share("a", work);
    expect(ends, "one for both").to.have.length(2);
    ends[1]?.("new");
    expect(await Promise.all(both)).to.deep.equal(["new", "new"]);
    ends[2]?.("newest");
    expect(await later).to.equal("newest");
    void inTurn.share("a", work);
    expect(ends, "nothing is kept").to.have.length(4);
  });

  it("does what is about something else at the same time", () => {
    const { work, ends } = controlled();
    const inTurn = new CoalescedCalls<string>();
    void inTurn.share("a", work);
    void inTurn.share("b", work);
    expect(ends).to.have.length(2);
  });

  it("never does the same twice at a time, whoever asks at the moment when one ends", async () => {
    let [running, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return "done";
    };
    const inTurn = new CoalescedCalls<string>();
    const asksAgain = async () => {
      for (let i = 0; i < 20; i++) await inTurn.share("a", work);
    };
    await Promise.all([asksAgain(), asksAgain(), asksAgain()]);
    expect(most).to.equal(1);
  });

  it("passes a failure to all who wait, and begins anew for who asks after it", async () => {
    const inTurn = new CoalescedCalls<string>();
    const failing = () => Promise.reject(new Error("down"));
    const outcomes = await Promise.allSettled([inTurn.share("a", failing), inTurn.share("a", failing)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(await inTurn.share("a", () => Promise.resolve("up"))).to.equal("up");
  });
});

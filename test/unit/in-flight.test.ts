import { expect } from "chai";
import { InFlight } from "../../src/in-flight";

/** Work that ends when it is told to. */
function controlled() {
  const ends: ((value: string) => void)[] = [];
  const work = () => new Promise<string>((resolve) => ends.push(resolve));
  return { work, ends };
}

describe("InFlight", () => {
  it("does the same work once for all who ask while it is done, and anew afterwards", async () => {
    const { work, ends } = controlled();
    const inFlight = new InFlight<string>();
    const both = Promise.all([inFlight.share("a", work), inFlight.share("a", work)]);
    expect(ends).to.have.length(1);
    ends[0]?.("first");
    expect(await both).to.deep.equal(["first", "first"]);
    void inFlight.share("a", work);
    expect(ends).to.have.length(2);
  });

  it("gives nobody what began before something changed: they share what begins when that has ended", async () => {
    const { work, ends } = controlled();
    const inFlight = new InFlight<string>();
    const before = inFlight.share("a", work);
    inFlight.renew("a");
    const after = inFlight.share("a", work);
    inFlight.renew("a");
    const shared = inFlight.share("a", work);
    expect(ends, "one at a time").to.have.length(1);
    ends[0]?.("old");
    expect(await before).to.equal("old");
    const later = inFlight.share("a", work);
    expect(ends, "what waits is shared, for it begins after each change").to.have.length(2);
    ends[1]?.("new");
    expect(await Promise.all([after, shared, later])).to.deep.equal(["new", "new", "new"]);
    void inFlight.share("a", work);
    expect(ends, "nothing is kept").to.have.length(3);
  });

  it("begins what waits also after a failure, and needs nobody to wait", async () => {
    const inFlight = new InFlight<string>();
    const before = inFlight.share("a", () => Promise.reject(new Error("down")));
    inFlight.renew("a");
    expect(await inFlight.share("a", () => Promise.resolve("up"))).to.equal("up");
    const [failed] = await Promise.allSettled([before]);
    expect(failed.status).to.equal("rejected");
    inFlight.renew("a");
    expect(await inFlight.share("a", () => Promise.resolve("again"))).to.equal("again");
  });

  it("passes a failure to all who share it, and tries again afterwards", async () => {
    const inFlight = new InFlight<string>();
    const failing = () => Promise.reject(new Error("down"));
    const outcomes = await Promise.allSettled([inFlight.share("a", failing), inFlight.share("a", failing)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    expect(await inFlight.share("a", () => Promise.resolve("up"))).to.equal("up");
  });
});

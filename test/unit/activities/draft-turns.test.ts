import { expect } from "chai";
import { DraftMutex } from "../../../activities/drivers/vlcm/vlcm-client";

describe("Turns on the draft of a cluster", () => {
  it("come in the order in which they were taken, for each cluster by itself", async () => {
    const turns = new DraftMutex();
    const order: string[] = [];
    const take = (cluster: string, name: string) => {
      const turn = turns.take(cluster);
      return { ...turn, came: turn.hasCome.then(() => order.push(name)) };
    };
    const [first, second, third] = ["first", "second", "third"].map((name) => take("c-1", name));
    await take("c-2", "of another cluster").came;
    expect(order).to.deep.equal(["first", "of another cluster"]);
    // Who does not wait any longer holds up nobody.
    second!.end();
    first!.end();
    await third!.came;
    expect(order.slice(2)).to.deep.equal(["second", "third"]);
  });

  it("come after a while although the one before does not end", async () => {
    const turns = new DraftMutex(1);
    turns.take("c-1");
    await turns.take("c-1").hasCome;
  });
});

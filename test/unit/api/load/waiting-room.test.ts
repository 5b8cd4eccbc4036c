import { expect } from "chai";
import { WaitingRoom } from "../../../../src/api/load/waiting-room";
import { ManualTimers } from "../../../support/manual-timers";

describe("the room in which requests wait", () => {
  let timers: ManualTimers;
  let room: WaitingRoom;
  let now: number;
  let told: string[];

  beforeEach(() => {
    [now, told] = [0, []];
    timers = new ManualTimers();
    room = new WaitingRoom(3000, { timers, now: () => now });
  });

  const enter = (name: string) => room.enter((hasPlace) => told.push(`${name} ${hasPlace ? "begins" : "goes"}`));

  async function pass(milliseconds: number): Promise<void> {
    now += milliseconds;
    await timers.pass(milliseconds);
  }

  it("calls whoever came first, once", async () => {
    for (const name of ["a", "b"]) enter(name);
    room.callFirst();
    await pass(3000);
    room.callFirst();
    expect(told).to.deep.equal(["a begins", "b goes"]);
    expect([room.size, timers.waiting]).to.deep.equal([0, 0]);
  });

  it("lets all of a burst wait for the whole time, though others are refused", async () => {
    for (const name of ["a", "b"]) enter(name);
    room.refused();
    await pass(999);
    room.refused();
    await pass(2000);
    expect(told).to.deep.equal([]);
    await pass(1);
    expect(told).to.deep.equal(["a goes", "b goes"]);
  });

  /** Somebody is refused, and again in each half of a second after it. */
  async function refuseFor(halfSeconds: number): Promise<void> {
    room.refused();
    for (let i = 0; i < halfSeconds; i++) {
      await pass(500);
      room.refused();
    }
  }

  it("lets nobody wait for more than a tenth of it in a flood, who waits already too", async () => {
    enter("a");
    await refuseFor(1);
    await pass(400);
    enter("b");
    await pass(100);
    room.refused();
    await pass(0);
    expect(told).to.deep.equal(["a goes"]);
    enter("c");
    await pass(200);
    expect(told).to.deep.equal(["a goes", "b goes"]);
    await pass(99);
    expect(told).to.have.length(2);
    await pass(1);
    expect(told).to.deep.equal(["a goes", "b goes", "c goes"]);
  });

  it("goes on with a flood though nobody waits for a moment, and counts who has waited in vain", async () => {
    enter("a");
    await refuseFor(2);
    await pass(0);
    expect(room.size).to.equal(0);
    for (const name of ["b", "c", "d", "e", "f"]) {
      enter(name);
      await pass(300);
      expect(told.at(-1)).to.equal(`${name} goes`);
    }
  });

  it("forgets a flood when nobody was refused for as long", async () => {
    await refuseFor(4);
    await pass(1000);
    enter("a");
    room.refused();
    await pass(2999);
    expect(told).to.deep.equal([]);
    await pass(1);
    expect(told).to.deep.equal(["a goes"]);
  });

  it("lets whoever leaves go at once, and leaves no timer", () => {
    const leave = enter("a");
    leave();
    leave();
    expect(told).to.deep.equal(["a goes"]);
    expect([room.size, timers.waiting]).to.deep.equal([0, 0]);
  });
});

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

  it("lets all of a burst wait for the whole time, though others found no room", async () => {
    for (const name of ["a", "b"]) enter(name);
    room.turnAway();
    await pass(999);
    room.turnAway();
    await pass(2000);
    expect(told).to.deep.equal([]);
    await pass(1);
    expect(told).to.deep.equal(["a goes", "b goes"]);
  });

  it("lets nobody wait for more than a tenth of it in a flood, who waits already too", async () => {
    enter("a");
    room.turnAway();
    await pass(900);
    enter("b");
    await pass(100);
    room.turnAway();
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

  it("forgets a flood when nobody waits any more, and a burst that is over", async () => {
    const flood = async () => {
      enter("first");
      room.turnAway();
      await pass(1000);
      room.turnAway();
      await pass(300);
    };
    await flood();
    told = [];
    enter("a");
    room.turnAway();
    await pass(600);
    room.callFirst();
    expect(told).to.deep.equal(["a begins"]);
    enter("b");
    room.turnAway();
    await pass(600);
    room.turnAway();
    await pass(2399);
    expect(told).to.deep.equal(["a begins"]);
    await pass(1);
    expect(told).to.deep.equal(["a begins", "b goes"]);
  });

  it("takes no note of who finds no room while nobody waits", async () => {
    room.turnAway();
    await pass(2000);
    enter("a");
    room.turnAway();
    await pass(2999);
    expect(told).to.deep.equal([]);
  });

  it("lets whoever leaves go at once, and leaves no timer", () => {
    const leave = enter("a");
    leave();
    leave();
    expect(told).to.deep.equal(["a goes"]);
    expect([room.size, timers.waiting]).to.deep.equal([0, 0]);
  });
});

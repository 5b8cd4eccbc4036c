import { expect } from "chai";
import * as fc from "fast-check";
import { Gate, type Pass } from "../../../../src/api/load/gate";
import { ManualTimers, settled } from "../../../support/manual-timers";

describe("a gate", () => {
  const limits = { places: 2, waitMilliseconds: 1000 };
  let timers: ManualTimers;
  let gate: Gate;
  let now: number;

  beforeEach(() => {
    now = 0;
    timers = new ManualTimers();
    gate = new Gate(limits, { timers, now: () => now });
  });

  function enter(): Pass {
    const pass = gate.enter();
    if (!pass) throw new Error("There is no room");
    return pass;
  }

  async function begun(count: number): Promise<Pass[]> {
    const passes = Array.from({ length: count }, enter);
    for (const pass of passes) expect(await pass.begin()).to.equal(true);
    return passes;
  }

  it("gives as many places as it has, and each that comes free to whoever came first", async () => {
    const [first] = await begun(2);
    const order: string[] = [];
    for (const name of ["a", "b"]) {
      const pass = enter();
      void pass.begin().then((hasPlace) => order.push(`${name} ${hasPlace}`));
    }
    expect(gate.counts).to.deep.equal({ inside: 4, waiting: 2, working: 2, allowed: 2 });
    first?.end();
    await settled();
    expect(order).to.deep.equal(["a true"]);
    expect(gate.counts).to.deep.equal({ inside: 4, waiting: 1, working: 2, allowed: 2 });
  });

  it("lets nobody wait for longer than the time, and leaves no timer", async () => {
    await begun(2);
    const waiting = enter().begin();
    await timers.pass(999);
    expect(gate.counts.waiting).to.equal(1);
    await timers.pass(1);
    expect(await waiting).to.equal(false);
    expect([gate.counts.waiting, timers.waiting]).to.deep.equal([0, 0]);
  });

  it("has no room while its queue is full, and again as soon as it is not", async () => {
    const [first] = await begun(2);
    const waiting = Array.from({ length: 8 }, enter);
    for (const pass of waiting) void pass.begin();
    expect(gate.enter()).to.equal(undefined);
    first?.end();
    expect(gate.enter()).not.to.equal(undefined);
  });

  it("takes bodies in that hold no place, up to a number", async () => {
    const slow = Array.from({ length: 31 }, enter);
    const quick = enter();
    expect(await quick.begin()).to.equal(true);
    expect(gate.enter()).to.equal(undefined);
    slow[0]?.leave();
    expect(gate.enter()).not.to.equal(undefined);
  });

  it("refuses a turn to bodies that have all arrived at once when the queue is full", async () => {
    const passes = Array.from({ length: 12 }, enter);
    const turns = passes.map((pass) => pass.begin());
    expect(await turns[10]).to.equal(false);
    expect(await turns[11]).to.equal(false);
    expect(gate.counts).to.deep.equal({ inside: 12, waiting: 8, working: 2, allowed: 2 });
  });

  it("frees the queue of whoever leaves, but a place only when the work has ended, once", async () => {
    const [first, second] = await begun(2);
    const third = enter();
    const turn = third.begin();
    third.leave();
    third.leave();
    expect(await turn).to.equal(false);
    first?.leave();
    expect(gate.counts).to.deep.equal({ inside: 1, waiting: 0, working: 2, allowed: 2 });
    first?.end();
    first?.end();
    second?.end();
    second?.end();
    second?.leave();
    expect(gate.counts).to.deep.equal({ inside: 0, waiting: 0, working: 0, allowed: 2 });
    expect(await third.begin(), "after it has left").to.equal(false);
    expect(timers.waiting).to.equal(0);
  });

  it("counts rightly, is never above its bounds and empty in the end, whatever happens in whatever order", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(fc.constantFrom("enter", "begin", "end", "leave", "time", "settle"), fc.nat(40), fc.nat(700)),
          { maxLength: 200 },
        ),
        async (steps) => {
          timers = new ManualTimers();
          gate = new Gate(limits, { timers, now: () => now });
          const passes: Pass[] = [];
          for (const [step, which, milliseconds] of steps) {
            const pass = passes[which % Math.max(1, passes.length)];
            if (step === "enter") {
              const entered = gate.enter();
              if (entered) passes.push(entered);
            } else if (step === "time") await timers.pass(milliseconds);
            else if (step === "settle") await settled();
            else void pass?.[step]();
            const { inside, waiting, working } = gate.counts;
            expect(working).to.be.within(0, 2);
            expect(waiting).to.be.within(0, 8);
            expect(inside).to.be.within(waiting, 32);
            if (waiting > 0) expect(working, "nobody waits beside a free place").to.equal(2);
          }
          for (const pass of passes) {
            pass.leave();
            pass.end();
          }
          await settled();
          for (const pass of passes) pass.end();
          expect(gate.counts).to.deep.equal({ inside: 0, waiting: 0, working: 0, allowed: 2 });
          expect(timers.waiting).to.equal(0);
        },
      ),
      { numRuns: 100 },
    ));

  describe("that adapts", () => {
    const take = async (count: number, milliseconds: number) => {
      const passes = await begun(count);
      now += milliseconds;
      for (const pass of passes) {
        pass.end();
        pass.leave();
      }
    };

    beforeEach(() => {
      gate = new Gate({ places: 64, waitMilliseconds: 1000, quickMilliseconds: 500 }, { timers, now: () => now });
    });

    it("begins with some, and has one more for each round of work that was quick and took all places", async () => {
      expect(gate.counts.allowed).to.equal(32);
      await take(10, 500);
      expect(gate.counts.allowed, "nobody needs more").to.equal(32);
      const inWork = await begun(32);
      for (let round = 0; round < 5000; round++) {
        const next = enter();
        const turn = next.begin();
        const done = inWork.shift();
        done?.end();
        done?.leave();
        expect(await turn).to.equal(true);
        inWork.push(next);
        while (gate.counts.working < gate.counts.allowed) inWork.push(...(await begun(1)));
      }
      expect(gate.counts.allowed).to.equal(64);
    });

    it("has half as many after a round that was slow, once for all of it, and never fewer than some", async () => {
      await take(32, 501);
      expect(gate.counts.allowed).to.equal(16);
      await take(16, 501);
      expect(gate.counts.allowed).to.equal(8);
      await take(8, 501);
      await take(4, 501);
      await take(2, 501);
      expect(gate.counts.allowed).to.equal(2);
    });

    it("has not fewer because of one that was slow all alone", async () => {
      await take(1, 60_000);
      expect(gate.counts.allowed).to.equal(32);
    });

    it("begins anew where it has been empty for long enough", async () => {
      await take(32, 501);
      now += 9999;
      await take(1, 0);
      expect(gate.counts.allowed).to.equal(16);
      now += 1;
      await take(1, 0);
      expect(gate.counts.allowed).to.equal(32);
    });

    it("lets half as many in beside one that is late, before that has ended", async () => {
      const [late, ...others] = await begun(16);
      now += 501;
      expect(gate.counts.allowed).to.equal(16);
      const next = enter().begin();
      expect(gate.counts).to.include({ working: 16, waiting: 1 });
      others[0]?.end();
      expect(await next).to.equal(true);
      late?.end();
      expect(gate.counts.allowed, "they began beside too few to have been too many").to.equal(16);
    });

    it("has a queue in proportion to what it works on now, and at least one for each of its places", async () => {
      gate = new Gate({ places: 20, waitMilliseconds: 1000, quickMilliseconds: 500 }, { timers, now: () => now });
      const fill = () => {
        let entered = 0;
        for (let pass = gate.enter(); pass; pass = gate.enter(), entered++) void pass.begin();
        return entered;
      };
      expect(fill()).to.equal(20 + 80);
      now += 501;
      await timers.pass(1000);
      expect(fill()).to.equal(40);
    });

    it("lets nobody wait beside a place that has become free since", async () => {
      const passes = await begun(32);
      const waiting = Array.from({ length: 20 }, () => enter().begin());
      now += 501;
      for (const pass of passes) pass.end();
      expect(gate.counts).to.include({ working: 16, waiting: 4, allowed: 16 });
      expect(await waiting[15]).to.equal(true);
    });
  });
});

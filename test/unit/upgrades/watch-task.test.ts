import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import type { Task } from "../../../src/domain/spec/task";
import { applyTaskChange } from "../../../src/domain/task/task-change";
import { applyProgress, initialTask } from "../../../src/domain/task/task-progress";
import { notFound, type ServiceError, temporalUnreachable } from "../../../src/upgrades/service-error";
import { type TaskEvent, TaskHistory, type TaskListener } from "../../../src/upgrades/task-history";
import { type Follower, TaskWatcher, type WatchLimits } from "../../../src/upgrades/watch-task";
import { ManualTimers, settled } from "../../support/manual-timers";
import { clusters, samplePlan } from "../../support/sample-plan";
import { arbitraryPlan, arbitraryTaskProgress } from "../domain/arbitrary-progress";

const away = temporalUnreachable(new Error("away"));
const limits: WatchLimits = { poll: 1000, quiet: 15_000, listeners: 500, listenersPerCaller: 500 };

/** A watcher of Tasks that a test changes at will. */
class Bench {
  readonly timers = new ManualTimers();
  readonly reads: string[] = [];
  task: Task = initialTask(samplePlan({ id: "task" }));
  error: ServiceError | undefined;
  /** Resolves the reads that a test holds back. */
  gate: Promise<void> = Promise.resolve();
  private ids = 0;
  readonly watcher: TaskWatcher;

  constructor(changes: Partial<WatchLimits> = {}) {
    this.watcher = new TaskWatcher({
      executions: {
        readTask: (id) => async () => {
          this.reads.push(id);
          await this.gate;
          return this.error ? E.left(this.error) : E.right(this.task);
        },
      },
      identities: { newId: () => `epoch${++this.ids}` },
      timers: this.timers,
      watchLimits: { ...limits, ...changes },
    });
  }

  async watch(lastEventId?: string, id = "task", over: Partial<Follower> = {}): Promise<TaskListener> {
    const outcome = await this.watcher.watch(id, { caller: "ann", lastEventId, ...over })();
    if (E.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left));
    return outcome.right;
  }

  async refused(id = "task", caller = "ann"): Promise<ServiceError> {
    const outcome = await this.watcher.watch(id, { caller })();
    if (E.isRight(outcome)) throw new Error("not refused");
    return outcome.left;
  }

  /** The Task changes, and the next poll sees it. */
  async becomes(changes: Partial<Task>): Promise<void> {
    this.task = { ...this.task, ...changes };
    await this.timers.pass(limits.poll);
  }
}

const unseen = new WeakMap<TaskListener, TaskEvent[]>();

/** What a listener is told without further waiting; the next time what it was told since. */
async function told(listener: TaskListener): Promise<TaskEvent[]> {
  const events = unseen.get(listener) ?? [];
  if (!unseen.has(listener)) {
    unseen.set(listener, events);
    void (async () => {
      for (let event = await listener.next(); event; event = await listener.next()) events.push(event);
    })();
  }
  await settled();
  return events.splice(0);
}

const typesOf = (events: readonly (TaskEvent | undefined)[]) => events.map((event) => event?.type);

/** The Task that a listener has who was told this. */
function fold(events: readonly TaskEvent[], from?: Task): Task | undefined {
  return events.reduce<Task | undefined>((task, event) => {
    if (event.type === "SNAPSHOT") return event.task;
    return event.type === "CHANGE" && task ? applyTaskChange(task, event.change) : task;
  }, from);
}

const lastId = (events: readonly TaskEvent[]) =>
  events.reduce<string | undefined>((id, event) => ("id" in event ? event.id : id), undefined);

describe("watching a Task", () => {
  let bench: Bench;
  beforeEach(() => (bench = new Bench()));
  afterEach(async () => {
    bench.watcher.close();
    await bench.timers.pass(120_000);
    expect(bench.timers.waiting, "timers that nobody needs any more").to.equal(0);
  });

  it("begins with the Task as it is, goes on with what changes and ends with its end", async () => {
    const listener = await bench.watch();
    expect(await listener.next()).to.deep.equal({ type: "SNAPSHOT", id: "epoch1.1", task: bench.task });
    const next = listener.next();
    await bench.becomes({ status: "In Progress" });
    const change = await next;
    expect(change).to.deep.include({ type: "CHANGE", id: "epoch1.2" });
    expect(fold([change!], initialTask(samplePlan({ id: "task" })))).to.include({ status: "In Progress" });
    await bench.becomes({ status: "Successful" });
    expect([await listener.next(), await listener.next(), await listener.next()]).to.deep.include.members([
      { type: "END", status: "Successful" },
      undefined,
    ]);
  });

  for (const status of ["Successful", "Failed", "Cancelled", "COMPLETED_WITH_WARNING", "SKIPPED"] as const) {
    it(`tells of a Task that is ${status} already, and reads it no more`, async () => {
      bench.task = { ...bench.task, status };
      const listener = await bench.watch();
      expect(typesOf(await told(listener))).to.deep.equal(["SNAPSHOT", "END"]);
      await bench.timers.pass(60_000);
      expect(bench.reads).to.have.length(1);
    });
  }

  it("is refused where the Task cannot be read, and keeps nothing of it", async () => {
    bench.error = notFound("task", "task");
    expect(await bench.refused()).to.equal(bench.error);
    bench.error = away;
    expect(await bench.refused()).to.equal(away);
    expect(bench.timers.waiting).to.equal(0);
  });

  it("reads the Task once per interval for two hundred listeners, and not at all for none", async () => {
    const listeners = await Promise.all(Array.from({ length: 200 }, () => bench.watch()));
    expect(bench.reads).to.have.length(1);
    const first = await Promise.all(listeners.map((listener) => listener.next()));
    expect(new Set(first), "all are told the very same").to.have.property("size", 1);
    const second = listeners.map((listener) => listener.next());
    await bench.becomes({ status: "In Progress" });
    expect(new Set(await Promise.all(second))).to.have.property("size", 1);
    await bench.timers.pass(9 * limits.poll);
    expect(bench.reads).to.have.length(11);
    await bench.watch();
    expect(bench.reads, "one more listener costs no read").to.have.length(11);

    for (const listener of listeners.slice(1)) listener.leave();
    await bench.timers.pass(limits.poll);
    expect(bench.reads).to.have.length(12);
    bench.watcher.close();
    await bench.timers.pass(100 * limits.poll);
    expect(bench.reads).to.have.length(12);
  });

  it("never has two reads of one Task under way, however long one takes", async () => {
    const listener = await bench.watch();
    let open = () => {};
    bench.gate = new Promise((resolve) => (open = resolve));
    await bench.timers.pass(20 * limits.poll);
    const late = bench.watch();
    expect(bench.reads).to.have.length(2);
    open();
    await late;
    expect(bench.reads).to.have.length(2);
    listener.leave();
  });

  it("shows that it is alive where nothing happens", async () => {
    const listener = await bench.watch();
    await listener.next();
    const next = listener.next();
    await bench.timers.pass(limits.quiet - 1);
    const answered: unknown[] = [];
    void next.then((event) => answered.push(event));
    await settled();
    expect(answered).to.deep.equal([]);
    await bench.timers.pass(1);
    expect(await next).to.deep.equal({ type: "QUIET" });
  });

  describe("from the last event on", () => {
    it("tells what has changed since, also when nobody has listened in between", async () => {
      const listener = await bench.watch();
      const before = await told(listener);
      listener.leave();
      bench.task = { ...bench.task, status: "In Progress" };
      const after = await told(await bench.watch(lastId(before)));
      expect(typesOf(after)).to.deep.equal(["CHANGE"]);
      expect(fold([...before, ...after])).to.deep.equal(bench.task);
    });

    it("tells nothing where nothing has changed, and the end again where it had ended", async () => {
      const listener = await bench.watch();
      const id = lastId(await told(listener));
      expect(await told(await bench.watch(id))).to.deep.equal([]);
      await bench.becomes({ status: "Failed" });
      const ended = lastId(await told(await bench.watch(id)));
      expect(typesOf(await told(await bench.watch(ended)))).to.deep.equal(["END"]);
    });

    it("goes on after the end where a failed Task was retried", async () => {
      bench.task = { ...bench.task, status: "Failed" };
      const failed = await told(await bench.watch());
      bench.task = { ...bench.task, status: "In Progress" };
      const retried = await told(await bench.watch(lastId(failed)));
      expect(typesOf(retried)).to.deep.equal(["CHANGE"]);
      expect(fold([...failed, ...retried])).to.deep.equal(bench.task);
    });

    const unknown = ["epoch2.1", "epoch1.2", "epoch1.0x", "epoch1", "1", "", ".", "epoch1.-1", "epoch1.1e0", "é\u0000"];
    for (const id of [...unknown, `epoch1.${"9".repeat(400)}`]) {
      it(`is a snapshot where that is unknown: ${JSON.stringify(id.slice(0, 20))}`, async () => {
        const first = await bench.watch();
        const listener = await bench.watch(id);
        expect(typesOf(await told(listener))).to.deep.equal(["SNAPSHOT"]);
        first.leave();
      });
    }

    it("is a snapshot where it is of another Task", async () => {
      const id = lastId(await told(await bench.watch()));
      expect(typesOf(await told(await bench.watch(id, "another")))).to.deep.equal(["SNAPSHOT"]);
    });

    it("is a snapshot a minute after the last listener has left", async () => {
      const listener = await bench.watch();
      const id = lastId(await told(listener));
      listener.leave();
      await bench.timers.pass(59_999);
      const again = await bench.watch(id);
      expect(await told(again), "just in time").to.deep.equal([]);
      again.leave();
      await bench.timers.pass(59_999);
      const oncemore = await bench.watch(id);
      expect(await told(oncemore), "the minute begins anew").to.deep.equal([]);
      oncemore.leave();
      await bench.timers.pass(60_000);
      expect(typesOf(await told(await bench.watch(id)))).to.deep.equal(["SNAPSHOT"]);
    });

    it("keeps the past of so many Tasks only", async () => {
      const ids: (string | undefined)[] = [];
      for (let i = 0; i < 33; i++) {
        const listener = await bench.watch(undefined, `task-${i}`);
        ids.push(lastId(await told(listener)));
        listener.leave();
      }
      expect(typesOf(await told(await bench.watch(ids[1], "task-1")))).to.deep.equal([]);
      expect(typesOf(await told(await bench.watch(ids[0], "task-0")))).to.deep.equal(["SNAPSHOT"]);
    });
  });

  describe("slowly", () => {
    it("tells every change where they are still kept", async () => {
      const slow = await bench.watch();
      const first = (await slow.next())!;
      for (let i = 0; i < 10; i++) await bench.becomes({ name: `name ${i}` });
      const rest = await told(slow);
      expect(typesOf(rest)).to.deep.equal(Array(10).fill("CHANGE"));
      expect(fold([first, ...rest])).to.deep.equal(bench.task);
    });

    it("tells the Task as it is now where they are not", async () => {
      const slow = await bench.watch();
      await slow.next();
      for (let i = 0; i < 257; i++) await bench.becomes({ name: `name ${i}` });
      expect(await told(slow)).to.deep.equal([{ type: "SNAPSHOT", id: "epoch1.258", task: bench.task }]);
    });

    it("leaves by itself where it never asks", async () => {
      await bench.watch();
      await bench.timers.pass(60_000);
      const { length } = bench.reads;
      await bench.timers.pass(60_000);
      expect(bench.reads).to.have.length(length);
    });
  });

  describe("while the Task cannot be read", () => {
    it("says so once, stays alive, and goes on with what has changed meanwhile", async () => {
      const listener = await bench.watch();
      const events = await told(listener);
      bench.error = away;
      await bench.timers.pass(20_000);
      bench.error = undefined;
      await bench.becomes({ status: "Successful" });
      const since = await told(listener);
      expect(typesOf(since)).to.deep.equal(["UNAVAILABLE", "QUIET", "AVAILABLE", "CHANGE", "END"]);
      expect(since[0]).to.deep.equal({ type: "UNAVAILABLE", error: away });
      expect(fold([...events, ...since])).to.deep.equal(bench.task);
    });

    it("tells a listener that comes then what is known, and that it is old", async () => {
      const first = await bench.watch();
      bench.error = away;
      await bench.timers.pass(limits.poll);
      expect(typesOf(await told(await bench.watch()))).to.deep.equal(["SNAPSHOT", "UNAVAILABLE"]);
      first.leave();
    });

    it("ends where there is no such Task any more", async () => {
      const listener = await bench.watch();
      bench.error = notFound("task", "task");
      await bench.timers.pass(limits.poll);
      expect(typesOf(await told(listener))).to.deep.equal(["SNAPSHOT", "UNAVAILABLE"]);
      expect(await listener.next()).to.equal(undefined);
      expect(await bench.refused()).to.equal(bench.error);
    });

    it("survives a port that throws", async () => {
      const listener = await bench.watch();
      await listener.next();
      bench.gate = Promise.reject(new Error("bug"));
      bench.gate.catch(() => undefined);
      await bench.timers.pass(limits.poll);
      expect(await listener.next()).to.deep.include({ type: "UNAVAILABLE" });
      bench.gate = Promise.resolve();
      await bench.timers.pass(limits.poll);
      expect(await listener.next()).to.deep.equal({ type: "AVAILABLE" });
    });
  });

  describe("with too many others", () => {
    it("is refused until one leaves, also when all come at once", async () => {
      bench = new Bench({ listeners: 3 });
      const outcomes = await Promise.all(
        Array.from({ length: 5 }, (_, i) => bench.watcher.watch(`task-${i % 2}`, { caller: "ann" })()),
      );
      expect(outcomes.filter(E.isRight)).to.have.length(3);
      expect(await bench.refused()).to.deep.include({ _tag: "Busy" });
      const [first] = outcomes.filter(E.isRight);
      first?.right.leave();
      first?.right.leave();
      await bench.watch();
      expect(await bench.refused()).to.deep.include({ _tag: "Busy" });
    });

    it("does not count those that were refused", async () => {
      bench = new Bench({ listeners: 1 });
      bench.error = away;
      for (let i = 0; i < 3; i++) expect(await bench.refused()).to.equal(away);
    });
  });

  describe("with too many of one caller", () => {
    it("is refused, of whichever Task, until one of them leaves, and others are not", async () => {
      bench = new Bench({ listeners: 4, listenersPerCaller: 2 });
      const first = await bench.watch(undefined, "task-1");
      await bench.watch(undefined, "task-2");
      expect(await bench.refused("task-3")).to.deep.include({ _tag: "Throttled" });
      await bench.watch(undefined, "task-1", { caller: "bob" });
      first.leave();
      first.leave();
      await bench.watch();
      expect(await bench.refused()).to.deep.include({ _tag: "Throttled" });
      await bench.watch(undefined, "task-1", { caller: "bob" });
      expect(await bench.refused("task-1", "cid")).to.deep.include({ _tag: "Busy" });
    });

    it("does not count those whose Task could not be read", async () => {
      bench = new Bench({ listenersPerCaller: 1 });
      bench.error = away;
      for (let i = 0; i < 3; i++) expect(await bench.refused()).to.equal(away);
    });
  });

  describe("with credentials that end", () => {
    it("ends with them, while it waits, and leaves its place to others", async () => {
      bench = new Bench({ listeners: 1 });
      const listener = await bench.watch(undefined, "task", { milliseconds: 5000 });
      expect(typesOf(await told(listener))).to.deep.equal(["SNAPSHOT"]);
      const waiting = listener.next();
      await bench.timers.pass(4999);
      expect(await bench.refused()).to.deep.include({ _tag: "Busy" });
      await bench.timers.pass(1);
      expect(await waiting).to.equal(undefined);
      await bench.watch();
    });

    it("goes on from where it was for whoever comes back with others", async () => {
      const listener = await bench.watch(undefined, "task", { milliseconds: 1500 });
      const id = lastId(await told(listener));
      await bench.timers.pass(1500);
      const again = await bench.watch(id, "task", { milliseconds: 60_000 });
      await bench.becomes({ status: "In Progress" });
      expect(typesOf(await told(again))).to.deep.equal(["CHANGE"]);
    });

    it("takes credentials that are good for years", async () => {
      const asked: number[] = [];
      const after = bench.timers.after.bind(bench.timers);
      bench.timers.after = (milliseconds, run) => {
        asked.push(milliseconds);
        return after(milliseconds, run);
      };
      const listener = await bench.watch(undefined, "task", { milliseconds: 1e12 });
      // More than 31 bits are no time at all to Node.
      expect(Math.max(...asked)).to.equal(2 ** 31 - 1);
      listener.leave();
    });
  });

  describe("when the process stops", () => {
    it("ends, also while it waits", async () => {
      const listener = await bench.watch();
      await listener.next();
      const waiting = listener.next();
      bench.watcher.close();
      expect(await waiting).to.equal(undefined);
    });

    it("ends at once for those that come later, or whose first read is under way", async () => {
      let open = () => {};
      bench.gate = new Promise((resolve) => (open = resolve));
      const reading = bench.watch();
      bench.watcher.close();
      open();
      expect(await (await reading).next()).to.equal(undefined);
      expect(await (await bench.watch()).next()).to.equal(undefined);
    });
  });
});

describe("TaskHistory", () => {
  it("leads any listener to the latest state, wherever it is and however little is kept", () => {
    fc.assert(
      fc.property(
        arbitraryPlan.chain((plan) => fc.tuple(fc.constant(plan), arbitraryTaskProgress(plan))),
        fc.record({ changes: fc.nat(5), subTasks: fc.nat(20) }),
        fc.infiniteStream(fc.boolean()),
        ([plan, happenings], kept, reads) => {
          const history = new TaskHistory("e", kept);
          let task = initialTask(plan);
          history.record(task);
          let place: number | undefined;
          let seen: Task | undefined;
          const catchUp = () => {
            for (let next = history.after(place); next; next = history.after(place)) {
              seen = fold([next.step], seen);
              place = next.place;
              expect(history.placeOf(next.step.id)).to.equal(place);
            }
            expect(seen).to.deep.equal(task);
          };
          for (const progress of happenings) {
            task = applyProgress(task, progress);
            history.record(task);
            if (reads.next().value) catchUp();
          }
          catchUp();
        },
      ),
    );
  });

  it("keeps no more SubTasks than it may", () => {
    const resources = clusters(3);
    const history = new TaskHistory("e", { changes: 100, subTasks: 2 });
    let task = initialTask(samplePlan({ resources }));
    history.record(task);
    const withStatus = (status: "IN_PROGRESS" | "PENDING"): Task => ({
      ...task,
      subTasks: task.subTasks!.map((part) => ({ ...part, status })),
    });
    history.record((task = withStatus("IN_PROGRESS")));
    expect(history.after(1)?.step.type).to.equal("CHANGE");
    history.record((task = withStatus("PENDING")));
    expect(history.after(2)?.step.type).to.equal("CHANGE");
    expect(history.after(1)?.step.type).to.equal("SNAPSHOT");
  });
});

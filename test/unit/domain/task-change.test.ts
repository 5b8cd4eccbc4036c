import { expect } from "chai";
import fc from "fast-check";
import { type SubTask, Task } from "../../../src/domain/spec/task";
import { applyTaskChange, subTasksIn, TaskChange, taskUpdate } from "../../../src/domain/task/task-change";
import { applyProgress, initialTask } from "../../../src/domain/task/task-progress";
import { arbitraryOf } from "./arbitrary-of";
import { arbitraryPlan, arbitraryTaskProgress, deepFreeze } from "./arbitrary-progress";

/** What a listener has after an update of what it had. */
function updated(before: Task, after: Task): Task {
  const update = taskUpdate(before, after);
  switch (update.type) {
    case "NONE":
      return before;
    case "SNAPSHOT":
      return after;
    case "CHANGE":
      return applyTaskChange(before, update.change);
  }
}

function host(name: string, changes: Partial<SubTask> = {}): SubTask {
  return {
    name,
    type: "HOST_UPGRADE",
    description: "Upgrade",
    status: "PENDING",
    creationTimestamp: "2026-11-01T12:00:00.000Z",
    ...changes,
  };
}

function taskOf(...subTasks: SubTask[]): Task {
  return {
    id: "t",
    name: "n",
    type: "UPGRADE",
    status: "In Progress",
    creationTimestamp: "2026-11-01T12:00:00.000Z",
    subTasks,
  };
}

/** An upgrade of many hosts, each with its stages. */
function largeTask(clusters: number, hosts: number): Task {
  const stages = ["REMEDIATE", "REBOOT", "RECONNECT", "VERIFY"].map((type) => ({
    ...host(type),
    type,
    status: "PENDING" as const,
  }));
  const cluster = (c: number) =>
    host(`cluster ${c}`, { subTasks: Array.from({ length: hosts }, (_, h) => host(`host ${c}-${h}`, { stages })) });
  return taskOf(host("product", { subTasks: Array.from({ length: clusters }, (_, c) => cluster(c)) }));
}

/** As a later read gives it: equal, and no object of it the same. */
const readAgain = (task: Task): Task => JSON.parse(JSON.stringify(task)) as Task;

describe("taskUpdate", () => {
  it("leads from any Task to any other", () => {
    const task = arbitraryOf(Task);
    fc.assert(
      fc.property(task, task, (before, after) => {
        expect(updated(deepFreeze(before), deepFreeze(after))).to.deep.equal(after);
      }),
    );
  });

  it("leads through every story of an upgrade, and says nothing where nothing has happened", () => {
    fc.assert(
      fc.property(
        arbitraryPlan.chain((plan) => fc.tuple(fc.constant(plan), arbitraryTaskProgress(plan))),
        ([plan, happenings]) => {
          happenings.reduce((before, progress) => {
            const after = applyProgress(before, progress);
            expect(updated(deepFreeze(before), deepFreeze(after))).to.deep.equal(after);
            expect(taskUpdate(after, readAgain(after))).to.deep.equal({ type: "NONE" });
            return after;
          }, initialTask(plan));
        },
      ),
    );
  });

  it("gives a change that its codec takes and does not change", () => {
    const task = arbitraryOf(Task);
    fc.assert(
      fc.property(task, task, (before, after) => {
        const update = taskUpdate(before, after);
        if (update.type !== "CHANGE") return;
        expect(TaskChange.is(update.change)).to.equal(true);
        expect(TaskChange.encode(update.change)).to.deep.equal(update.change);
      }),
    );
  });

  it("names a SubTask by its path, without the parts that have not changed", () => {
    const before = taskOf(host("a"), host("b", { subTasks: [host("b0"), host("b1", { subTasks: [host("b10")] })] }));
    const after = taskOf(
      host("a"),
      host("b", {
        status: "IN_PROGRESS",
        subTasks: [host("b0"), host("b1", { subTasks: [host("b10", { status: "FAILED" })] })],
      }),
    );
    expect(taskUpdate(before, after)).to.deep.equal({
      type: "CHANGE",
      change: {
        subTasks: [
          { path: "/subTasks/1", whole: false, subTask: host("b", { status: "IN_PROGRESS" }) },
          { path: "/subTasks/1/subTasks/1/subTasks/0", whole: false, subTask: host("b10", { status: "FAILED" }) },
        ],
      },
    });
  });

  it("gives a SubTask as a whole where its list has another length, also none", () => {
    const cluster = (subTasks?: SubTask[]) => taskOf(host("c", subTasks && { subTasks }));
    for (const [before, after] of [
      [cluster(), cluster([host("c0")])],
      [cluster([host("c0")]), cluster()],
      [cluster([]), cluster()],
      [cluster([host("c0"), host("c1")]), cluster([host("c1")])],
    ] as const) {
      expect(taskUpdate(before, after)).to.deep.equal({
        type: "CHANGE",
        change: { subTasks: [{ path: "/subTasks/0", whole: true, subTask: after.subTasks?.[0] }] },
      });
      expect(updated(before, after)).to.deep.equal(after);
    }
  });

  it("gives a snapshot where the Task's own list has another length", () => {
    expect(taskUpdate(taskOf(host("a")), taskOf(host("a"), host("b")))).to.deep.equal({ type: "SNAPSHOT" });
  });

  it("gives the Task without its SubTasks where only that has changed", () => {
    const { subTasks: _, ...header } = taskOf();
    const change = { subTasks: [], task: { ...header, status: "Successful" as const } };
    expect(taskUpdate(taskOf(host("a")), { ...taskOf(host("a")), status: "Successful" })).to.deep.equal({
      type: "CHANGE",
      change,
    });
    expect(applyTaskChange(taskOf(host("a")), change)).to.deep.equal({ ...taskOf(host("a")), status: "Successful" });
  });

  it("of 100 clusters with 64 hosts sends the host that changed, and is quick", () => {
    const before = largeTask(100, 64);
    const after = readAgain(before);
    const changed = after.subTasks?.[0]?.subTasks?.[99]?.subTasks?.[63];
    Object.assign(changed ?? {}, { status: "IN_PROGRESS" });
    const samples = Array.from({ length: 5 }, () => {
      const began = performance.now();
      const update = taskUpdate(before, after);
      const took = performance.now() - began;
      expect(update.type === "CHANGE" && update.change.subTasks.map(({ path }) => path)).to.deep.equal([
        "/subTasks/0/subTasks/99/subTasks/63",
      ]);
      return took;
    });
    // A few milliseconds where nothing else runs; a quadratic comparison would take minutes.
    expect(Math.min(...samples)).to.be.lessThan(250);
  });
});

describe("applyTaskChange", () => {
  it("leaves alone what a path does not find", () => {
    const task = taskOf(host("a"));
    for (const path of ["/subTasks/1", "/subTasks/0/subTasks/0"]) {
      expect(applyTaskChange(task, { subTasks: [{ path, whole: true, subTask: host("b") }] })).to.deep.equal(task);
    }
  });
});

describe("subTasksIn", () => {
  it("counts SubTasks with all that are nested in them", () => {
    const cluster = host("c", { subTasks: [host("c0"), host("c1", { subTasks: [host("c10")] })] });
    expect(subTasksIn({ subTasks: [] })).to.equal(0);
    expect(
      subTasksIn({
        subTasks: [
          { path: "/subTasks/0", whole: true, subTask: cluster },
          { path: "/subTasks/1", whole: false, subTask: host("a") },
        ],
      }),
    ).to.equal(5);
  });
});

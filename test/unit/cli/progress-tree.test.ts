import { expect } from "chai";
import fc from "fast-check";
import { createColors } from "picocolors";
import stringWidth from "string-width";
import { linesOfChange } from "../../../src/cli/display";
import { timeText } from "../../../src/cli/phases";
import { drawTask, summary } from "../../../src/cli/progress-tree";
import type { SubTask, SubTaskStatus, Task } from "../../../src/domain/spec/task";

const at = "2036-01-01T00:00:00.000Z";
const now = Date.parse(at) + 3_723_000;
const style = createColors(false);

function part(name: string, type: string, status: SubTaskStatus, more: Partial<SubTask> = {}): SubTask {
  return { name, type, description: name, status, creationTimestamp: at, ...more };
}

const host = (name: string, status: SubTaskStatus, more: Partial<SubTask> = {}) =>
  part(name, "HOST_UPGRADE", status, more);

function taskOf(clusters: SubTask[]): Task {
  const subTasks = [part("Upgrade HOSTOS", "HOSTOS_UPGRADE", "IN_PROGRESS", { subTasks: clusters })];
  return { id: "t", name: "Upgrade all", type: "UPGRADE", status: "In Progress", creationTimestamp: at, subTasks };
}

const stage = {
  name: "Enter maintenance mode",
  type: "S",
  description: "",
  status: "IN_PROGRESS" as const,
  creationTimestamp: at,
};
const running = part("Upgrade cluster a", "CLUSTER_UPGRADE", "IN_PROGRESS", {
  subTasks: [
    host("esx-01", "SUCCESSFUL"),
    host("esx-02", "IN_PROGRESS", { stages: [stage], progressPercent: 46, attempt: 1, maximumAttempts: 4 }),
    host("esx-03", "FAILED", { errors: [{ message: "bootbank is too small" }] }),
    host("esx-04", "PENDING"),
  ],
});

describe("drawTask", () => {
  it("nests product, cluster and host with bars, counts, stage and error", () => {
    const lines = drawTask(taskOf([running]), { columns: 100, rows: 30, style, now });
    expect(lines).to.deep.equal([
      "Upgrade all",
      "In progress   1:02:03   hosts: 1/4 done, 1 failed, 1 running, 1 left",
      "▶ Upgrade HOSTOS                       █████░░░░░░░░░░░░░░░  25%  1/4",
      "  ▶ Upgrade cluster a                  █████░░░░░░░░░░░░░░░  25%  1/4",
      "    ✔ esx-01  Successful",
      "    ▶ esx-02  Enter maintenance mode (46 %) (attempt 1 of 4)",
      "    ✖ esx-03  bootbank is too small",
      "    · esx-04  ",
    ]);
  });

  it("says below its status what blocks an upgrade, and once where it prints lines", () => {
    const task = taskOf([running]);
    const wait = {
      code: "WORKFLOW_TASK_FAILING" as const,
      message: "Workflow cluster/a\ncannot continue",
      attempts: 3,
    };
    const blocked = { ...task, waitingFor: wait };
    const lines = drawTask(blocked, { columns: 100, rows: 30, style, now });
    expect(lines[2]).to.equal("! Workflow cluster/a cannot continue");
    expect(linesOfChange(task, blocked, now)).to.deep.equal(["! Workflow cluster/a cannot continue"]);
    expect(linesOfChange(blocked, { ...blocked, waitingFor: { ...wait, attempts: 4 } }, now)).to.deep.equal([]);
  });

  it("counts hosts that were not begun as left, and those that had nothing to do as done", () => {
    const hosts = [
      host("esx-01", "FAILED"),
      host("esx-02", "NOT_APPLICABLE", { reasonCode: "NOT_STARTED", description: "Not begun." }),
      host("esx-03", "NOT_APPLICABLE", { reasonCode: "AT_TARGET", description: "Already runs 9.0.2: nothing to do." }),
    ];
    const failed = part("Upgrade cluster a", "CLUSTER_UPGRADE", "FAILED", { subTasks: hosts });
    const lines = drawTask(taskOf([failed]), { columns: 100, rows: 30, style, now });
    expect(lines[1]).to.contain("1/3 done, 1 failed, 1 left");
    expect(lines.slice(-2)).to.deep.equal([
      "    – esx-02  Not begun.",
      "    – esx-03  Already runs 9.0.2: nothing to do.",
    ]);
  });

  it("keeps what failed and what runs where there is no room, and counts the rest", () => {
    const waiting = Array.from({ length: 99 }, (_, n) =>
      part(`Upgrade cluster ${n}`, "CLUSTER_UPGRADE", "IN_PROGRESS", {
        subTasks: Array.from({ length: 64 }, (_unused, h) =>
          host(`esx-${n}-${h}`, h === 0 ? "IN_PROGRESS" : "PENDING"),
        ),
      }),
    );
    const lines = drawTask(taskOf([...waiting, running]), { columns: 80, rows: 24, style, now, notice: "Lost." });
    expect(lines).to.have.length(24);
    expect(lines.join("\n")).to.contain("esx-03  bootbank").and.to.contain("1 failed");
    // What has failed stands below what it is a part of, not below another cluster.
    const failed = lines.findIndex((line) => line.includes("esx-03"));
    expect(lines.slice(0, failed).findLast((line) => line.startsWith("  ▶"))).to.contain("Upgrade cluster a ");
    expect(lines.at(-2)).to.match(/… and \d+ more/);
    expect(lines.at(-1)).to.equal("Lost.");
  });

  it("never leaves its room", () => {
    const status = fc.constantFrom<SubTaskStatus>("PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED", "NOT_APPLICABLE");
    const name = fc.string({ unit: "grapheme" });
    const hosts = fc.array(fc.tuple(name, status), { maxLength: 6 });
    const clusters = fc.array(fc.tuple(name, status, hosts), { maxLength: 6 });
    fc.assert(
      fc.property(
        clusters,
        fc.integer({ min: 1, max: 120 }),
        fc.integer({ min: 1, max: 40 }),
        (drawn, columns, rows) => {
          const parts = drawn.map(([title, is, inside]) =>
            part(title, "CLUSTER_UPGRADE", is, { subTasks: inside.map(([one, its]) => host(one, its)) }),
          );
          const lines = drawTask(taskOf(parts), { columns, rows, style, now });
          return lines.length <= rows && lines.every((line) => stringWidth(line) <= Math.max(columns, 8));
        },
      ),
    );
  });
});

describe("summary", () => {
  const task = taskOf([
    part("Upgrade cluster cl01", "CLUSTER_UPGRADE", "IN_PROGRESS", { subTasks: [host("a", "PENDING")] }),
  ]);
  const expectedEnd = new Date(now + 25 * 60_000).toISOString();

  it("counts no hosts of a readiness check, which upgrades none", () => {
    const { subTasks: _, ...check } = { ...task, type: "READINESS" };
    expect(summary(check, now)).to.equal("In progress   1:02:03");
  });

  it("has the phase and the time left while it runs, and without the facts of the upgrade its status", () => {
    expect(summary(task, now, { id: "x", phase: "PAUSING", expectedEnd }))
      .to.match(/^Pausing /)
      .and.to.contain("about 25 min left");
    expect(summary(task, now)).to.match(/^In progress /);
    const done: Task = { ...task, status: "Successful", completionTimestamp: at };
    expect(summary(done, now, { id: "x", phase: "RUNNING" })).to.match(/^Successful /);
  });

  it("has no time left after the end, however old the facts of the upgrade are", () => {
    const done: Task = { ...task, status: "Successful", completionTimestamp: at };
    const past = new Date(now - 60_000).toISOString();
    expect(summary(done, now, { id: "x", phase: "RUNNING", expectedEnd: past })).not.to.contain("almost done");
    expect(summary(done, now, { id: "x", phase: "RUNNING", expectedEnd })).not.to.contain("about");
    const cancelled: Task = { ...task, status: "Cancelled", completionTimestamp: at };
    expect(summary(cancelled, now, { id: "x", phase: "SCHEDULED", until: expectedEnd })).not.to.contain("begins");
    const failed: Task = { ...task, status: "Failed", completionTimestamp: at };
    const decision = { id: "x", phase: "ACTION_REQUIRED", until: expectedEnd, endTime: now } as const;
    expect(summary(failed, now, decision)).to.contain("decide in 25 min");
    expect(timeText({ id: "x", phase: "SUCCEEDED", expectedEnd: past, endTime: now }, now)).to.equal("ended now");
  });
});

describe("linesOfChange", () => {
  it("tells what has changed, and nothing twice", () => {
    const before = taskOf([
      { ...running, subTasks: [host("esx-01", "IN_PROGRESS", { stages: [stage] }), host("esx-02", "PENDING")] },
    ]);
    const after = taskOf([
      {
        ...running,
        subTasks: [host("esx-01", "FAILED", { errors: [{ message: "no\nroom" }] }), host("esx-02", "IN_PROGRESS")],
      },
    ]);
    expect(linesOfChange(before, after, now)).to.deep.equal([
      "Upgrade HOSTOS > Upgrade cluster a > esx-01: Failed: no room",
      "Upgrade HOSTOS > Upgrade cluster a > esx-02: In progress",
    ]);
    expect(linesOfChange(after, after, now)).to.deep.equal([]);
    const paused = { ...after, localizableDescriptionPack: { message: "Upgrade all: paused." } };
    expect(linesOfChange(after, paused, now).join()).to.match(/^In progress .* Upgrade all: paused\.$/);
    const all = linesOfChange(undefined, before, now);
    expect(all).to.include("Upgrade HOSTOS > Upgrade cluster a > esx-01: Enter maintenance mode");
    expect(all.at(-1)).to.match(/^In progress {3}1:02:03 {3}hosts: 0\/2 done/);
  });
});

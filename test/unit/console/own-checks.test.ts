import { expect } from "chai";
import { errorGroups, splitErrors } from "../../../src/console/model/own-errors";
import { pausingCheck } from "../../../src/console/model/own-checks";
import { consequencesOf } from "../../../src/console/model/operations";
import { type CheckAnswer, checkError } from "../../../src/domain/checks/own-check";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { answeredStage, askedStage } from "../../../src/domain/task/check-stages";
import { checksSubTask, withChecks } from "../../../src/domain/task/own-checks";
import { sampleCheck } from "../../support/sample-plan";
import { at, cluster, doneHost, task } from "./console-task";

const checks = [sampleCheck("slo", { onFailure: "PAUSE" }), sampleCheck("board")];
const [slo = sampleCheck("slo"), board = sampleCheck("board")] = checks;
const failed: CheckAnswer = { verdict: "FAILED", text: "3 alerts active." };
const message = "Check slo did not pass: 3 alerts active.";

const asked = checksSubTask(checks, at(0));
const [first = expect.fail(), second = expect.fail()] = asked.stages ?? [];
const paused: SubTask = {
  ...asked,
  status: "IN_PROGRESS",
  stages: [answeredStage(first, slo, failed, at(1)), second],
};
const withPart = (part: SubTask, more: Partial<Task> = {}) =>
  withChecks(task([cluster("SUCCESSFUL", [doneHost("a", 0, 1)])], more), part);

describe("the console's own checks", () => {
  it("say why one has paused an upgrade, until somebody has accepted it", () => {
    expect(pausingCheck(withPart(paused))?.message).to.equal(message);
    const accepted = { ...paused, stages: [paused.stages?.[0] ?? first, askedStage(second)] };
    for (const part of [asked, accepted, { ...paused, status: "FAILED" as const }])
      expect(pausingCheck(withPart(part))).to.equal(undefined);
    expect(pausingCheck(task([]))).to.equal(undefined);
    expect(consequencesOf({ id: "u" }, withPart(paused)).resume[0]).to.equal(`You accept this: ${message}`);
  });

  it("are each a place where something went wrong", () => {
    const both = {
      ...paused,
      stages: [first, second].map((one, i) => answeredStage(one, [slo, board][i] ?? slo, failed, at(1))),
    };
    expect(errorGroups(withPart(both))).to.deep.equal([
      {
        errorCode: "CHECK_FAILED",
        places: [
          { key: "/subTasks/1/stages/0", name: "Check slo" },
          { key: "/subTasks/1/stages/1", name: "Check board" },
        ],
      },
    ]);
  });

  it("that were accepted are what an upgrade ended with, and what was retried since is past", () => {
    const retried = { message: "Cluster cl01: no room.", errorCode: "NO_ROOM", context: { resourceId: "cl01" } };
    const leftOut = { message: "cl02 was left out.", errorCode: "RESOURCE_SKIPPED", context: { resourceId: "cl02" } };
    const warned = {
      message: "cl01 has a wrong clock.",
      errorCode: "PRECHECK_WARNINGS",
      context: { resourceId: "cl01" },
    };
    const errors = [checkError(slo, failed), retried, leftOut, warned];
    const split = (status: Task["status"]) => {
      const { now, past } = splitErrors(task([cluster("SUCCESSFUL", [doneHost("a", 0, 1)])], { status, errors }));
      return [now, past].map((some) => some.map(({ errorCode }) => errorCode));
    };
    expect(split("COMPLETED_WITH_WARNING")).to.deep.equal([
      ["CHECK_FAILED", "RESOURCE_SKIPPED", "PRECHECK_WARNINGS"],
      ["NO_ROOM"],
    ]);
    const codes = errors.map(({ errorCode }) => errorCode);
    expect(split("Failed")).to.deep.equal([codes, []]);
    expect(split("In Progress")).to.deep.equal([[], codes]);
  });
});

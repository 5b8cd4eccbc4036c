import { expect } from "chai";
import {
  acknowledgementOf,
  isOffered,
  takesAcknowledgements,
  wordsOfFinding,
} from "../../../src/console/model/findings";
import { precheckRunsOf } from "../../../src/console/model/precheck-runs";
import type { Finding } from "../../../src/domain/spec/finding";
import type { Task } from "../../../src/domain/spec/task";
import { at, begin, part, stage } from "./console-task";

const finding: Finding = {
  severity: "ERROR",
  code: "CLUSTER_BUSY",
  message: "A task runs.",
  remediationMessage: "Wait.",
  resourceId: "c-1",
  isAcknowledgeable: true,
  subject: "task-1",
};
const acknowledged = { by: "bob", at: at(1), reason: "Ours" };

describe("findings on the page of an upgrade", () => {
  it("look as severe as they are, and as good where they are acknowledged, until that ends", () => {
    const words = (more: Partial<Finding>, now = begin) => wordsOfFinding({ ...finding, ...more }, now).word;
    expect(words({})).to.equal("Error");
    expect(words({ severity: "WARNING" })).to.equal("Warning");
    expect(words({ severity: "INFO" })).to.equal("Note");
    expect(words({ acknowledged })).to.equal("Error, acknowledged");
    const ending = { ...acknowledged, until: at(60) };
    expect(words({ acknowledged: ending }, begin + 59_000)).to.equal("Error, acknowledged");
    expect(words({ acknowledged: ending }, begin + 61_000)).to.equal("Error");
  });

  it("are offered to be acknowledged where that is possible and not done", () => {
    expect(isOffered(finding, begin)).to.equal(true);
    expect(isOffered({ ...finding, acknowledged }, begin)).to.equal(false);
    expect(isOffered({ ...finding, isAcknowledgeable: false }, begin)).to.equal(false);
  });

  it("are acknowledged each by itself", () => {
    expect(acknowledgementOf({ ...finding, hostId: "host-1" }, { reason: "Ours" })).to.deep.equal({
      ...{ code: "CLUSTER_BUSY", resourceId: "c-1", hostId: "host-1", subject: "task-1", reason: "Ours" },
    });
  });

  it("take acknowledgements while the upgrade goes on, or can be retried", () => {
    const task = { status: "Pending", isCancellable: true } as Task;
    expect(takesAcknowledgements(task)).to.equal(true);
    expect(takesAcknowledgements({ ...task, isCancellable: false })).to.equal(false);
    const failed = { status: "Failed", resolutionStatus: "UNRESOLVED", isRetryable: true } as Task;
    expect(takesAcknowledgements(failed)).to.equal(true);
    expect(takesAcknowledgements({ ...failed, resolutionStatus: "RESOLVED" })).to.equal(false);
  });

  it("are those of each check, and each run has the id of its Task", () => {
    const checks = [{ ...stage("FAILED", 0), findings: [finding] }];
    const run = part("PRECHECKS", "FAILED", { subTasks: [part("CLUSTER_PRECHECKS", "FAILED", { stages: checks })] });
    const runs = precheckRunsOf({ id: "u", subTasks: [run, run] } as unknown as Task);
    expect(runs.map(({ id }) => id)).to.deep.equal(["u-prechecks-2", "u-prechecks-1"]);
    expect(runs[0]?.resources[0]?.checks[0]?.findings).to.deep.equal([finding]);
  });
});

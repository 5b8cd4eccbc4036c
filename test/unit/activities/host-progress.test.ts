import { expect } from "chai";
import { HostProgressTracker, knownProgress } from "../../../activities/hostos/host-progress";
import { type HostProgress, hostStages } from "../../../src/domain/host-remediation";

const error = { errorCode: "HOST_REMEDIATION_FAILED", message: "No space." };

function track(known?: HostProgress) {
  const beats: HostProgress[] = [];
  const tracker = new HostProgressTracker("host-1", known, (progress) => beats.push(progress), hostStages);
  const statuses = () => tracker.current.stages.map(({ status }) => status);
  return { tracker, beats, statuses };
}

describe("the progress of a host", () => {
  it("heartbeats every change, with all stages in their order", () => {
    const { tracker, beats, statuses } = track();
    expect(statuses()).to.deep.equal(["PENDING", "PENDING", "PENDING", "PENDING"]);
    tracker.begin("CHECK_COMPLIANCE", "Comparing.");
    tracker.begin("RECONNECT", "Waiting.");
    expect(statuses()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "IN_PROGRESS", "PENDING"]);
    tracker.succeed("VERIFY", "Done.");
    expect(statuses()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
    expect(tracker.current.stages.every(({ completionTimestamp }) => completionTimestamp)).to.equal(true);
    expect(beats.map(({ activity }) => activity)).to.deep.equal(["Comparing.", "Waiting.", "Done."]);
  });

  it("goes on with a lost attempt as it stood", () => {
    const first = track();
    first.tracker.begin("CHECK_COMPLIANCE", "Comparing.");
    first.tracker.intend(Date.parse("2026-12-01T09:30:00.000Z"));
    first.tracker.attach("task-1");
    first.tracker.begin("REMEDIATE", "Remediating.");
    const second = track(first.tracker.current);
    expect(second.tracker.current).to.deep.equal(first.tracker.current);
    expect(second.tracker.current).to.include({ remoteTask: "task-1", requestedAt: "2026-12-01T09:30:00.000Z" });
  });

  it("counts a reported failure, and begins the next attempt afresh", () => {
    const first = track();
    first.tracker.intend(0);
    first.tracker.attach("task-1");
    first.tracker.begin("REMEDIATE", "Remediating.");
    first.tracker.fail(error, true);
    expect(first.tracker.current.stages[1]).to.deep.include({ status: "FAILED", errors: [error] });
    expect(first.tracker.current).to.deep.include({ reportedFailures: 1, lastError: error });
    expect(first.tracker.current).to.not.have.any.keys("remoteTask", "requestedAt");

    const { tracker, statuses } = track(first.tracker.current);
    expect(tracker.current).to.deep.include({ reportedFailures: 1, lastError: error });
    expect(statuses()).to.deep.equal(["PENDING", "PENDING", "PENDING", "PENDING"]);
  });

  it("does not count a failure of ours, and keeps what may still run", () => {
    const { tracker } = track();
    tracker.intend(0);
    tracker.attach("task-1");
    tracker.begin("REMEDIATE", "Remediating.");
    tracker.fail(error, false);
    expect(tracker.current).to.include({ reportedFailures: 0, remoteTask: "task-1" });
    const again = track(tracker.current);
    again.tracker.begin("REMEDIATE", "Remediating.");
    expect(again.tracker.current.stages[1]).to.not.have.property("errors");
    expect(again.statuses()).to.deep.equal(["SUCCESSFUL", "IN_PROGRESS", "PENDING", "PENDING"]);
  });

  it("takes whichever knows of more failures: its own details or what the Workflow was told", () => {
    const progress = (reportedFailures: number, activity: string): HostProgress => ({
      host: "host-1",
      reportedFailures,
      activity,
      stages: [],
    });
    expect(knownProgress("host-1", undefined, undefined)).to.equal(undefined);
    expect(knownProgress("host-1", { nonsense: true }, undefined)).to.equal(undefined);
    expect(knownProgress("host-1", undefined, progress(1, "told"))?.activity).to.equal("told");
    expect(knownProgress("host-1", progress(1, "own"), progress(1, "told"))?.activity).to.equal("own");
    expect(knownProgress("host-1", progress(0, "own"), progress(1, "told"))?.activity).to.equal("told");
  });

  it("knows nothing by what was told of another host, which the same run has gone on to", () => {
    const other: HostProgress = { host: "host-2", reportedFailures: 1, activity: "told", stages: [] };
    expect(knownProgress("host-1", other, other)).to.equal(undefined);
  });
});

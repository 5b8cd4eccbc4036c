import { expect } from "chai";
import { hostFailure } from "../../../activities/clusters/remediation-errors";
import { knownProgress, RemediationTracker } from "../../../activities/clusters/remediation-tracker";
import type { RemediateHostsInput } from "../../../activities/contract";
import type { RemediationProgress } from "../../../src/domain/task/host-remediation";
import { sampleProgress } from "../../support/sample-progress";
import { stagesIn } from "./simulated-cluster";

const failure = hostFailure("HOST_REMEDIATION_FAILED", "failed", ["No space."]);
const requestedAt = "2026-12-01T09:30:00.000Z";

function track(known?: RemediationProgress, hosts = 1, maximumAttempts = 2) {
  const beats: RemediationProgress[] = [];
  const input: RemediateHostsInput = {
    cluster: { resourceId: "c-1", name: "cluster-01", componentManagerId: "vc-01", cluster: "domain-c8" },
    kind: "IMAGE",
    targetVersion: "9.0.1-0.24957456",
    places: [{ domain: "fra1" }],
    hosts: Array.from({ length: hosts }, (_, place) => ({ host: `host-${place}`, fqdn: `esx-${place}` })),
    attempts: { maximumAttempts, retryDelay: 0 },
  };
  const tracker = new RemediationTracker(input, known, (progress) => beats.push(progress));
  const statuses = () => stagesIn(tracker.current).map((stage) => stage.split(" ")[1]);
  return { tracker, beats, statuses };
}

/** The tracker of a host whose remediation runs. */
function running(maximumAttempts?: number) {
  const tracked = track(undefined, 1, maximumAttempts);
  tracked.tracker.enter([0], "CHECK_COMPLIANCE", "Comparing.");
  tracked.tracker.intend(Date.parse(requestedAt), [0]);
  tracked.tracker.attach("task-1");
  return tracked;
}

describe("the progress of hosts", () => {
  it("heartbeats every change, with all stages in their order", () => {
    const { tracker, beats, statuses } = track();
    expect(statuses()).to.deep.equal(["PENDING", "PENDING", "PENDING", "PENDING"]);
    tracker.enter([0], "CHECK_COMPLIANCE", "Comparing.");
    tracker.enter([0], "RECONNECT", "Waiting.");
    expect(statuses()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "IN_PROGRESS", "PENDING"]);
    tracker.enter([0], "UPGRADED", "Done.");
    expect(statuses()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
    const [upgraded] = tracker.result().upgraded;
    expect(upgraded?.stages.every(({ completionTimestamp }) => completionTimestamp)).to.equal(true);
    expect(beats.map(({ activity }) => activity)).to.deep.equal(["Comparing.", "Waiting.", "Done."]);
  });

  it("tells of a request with one heartbeat, and takes it back where it was refused", () => {
    const { tracker, beats, statuses } = track();
    tracker.enter([0], "CHECK_COMPLIANCE", "Comparing.");
    tracker.intend(Date.parse(requestedAt), [0]);
    expect(beats).to.have.length(2);
    expect(beats[1]).to.include({ requestedAt, phases: "r" });
    tracker.retract();
    expect(tracker.current).to.not.have.property("requestedAt");
    expect(tracker.inPhase("REMEDIATE")).to.deep.equal([]);
    expect(tracker.isUntouched).to.equal(true);
    expect(statuses()).to.deep.equal(["SUCCESSFUL", "IN_PROGRESS", "PENDING", "PENDING"]);
  });

  it("goes on with a lost attempt as it stood", () => {
    const first = running();
    const second = track(first.tracker.current);
    expect(second.tracker.current).to.deep.equal(first.tracker.current);
    expect(second.tracker.current).to.include({ remoteTask: "task-1", requestedAt });
  });

  it("counts a reported failure, and begins the next attempt afresh", () => {
    const first = running();
    first.tracker.fail(0, failure);
    first.tracker.endAttempt();
    expect(first.statuses()).to.deep.equal(["SUCCESSFUL", "FAILED", "PENDING", "PENDING"]);
    expect(first.tracker.current.failures).to.deep.equal([1]);
    expect(first.tracker.current).to.not.have.any.keys("remoteTask", "requestedAt");

    const { tracker, statuses } = track(first.tracker.current);
    expect(tracker.current.failures).to.deep.equal([1]);
    expect(tracker.errorOf(0).message).to.equal("Host esx-0 failed: No space.");
    expect(statuses()).to.deep.equal(["PENDING", "PENDING", "PENDING", "PENDING"]);
  });

  it("begins afresh also where the run was lost before it could say that the attempt has ended", () => {
    const first = running();
    first.tracker.fail(0, failure);
    expect(first.tracker.current).to.include({ remoteTask: "task-1", requestedAt });
    const { tracker } = track(first.tracker.current);
    expect(tracker.current).to.not.have.any.keys("remoteTask", "requestedAt");
    expect(tracker.inPhase("WAITING")).to.deep.equal([0]);
  });

  it("leaves a host failed that has no attempt left, and counts nothing of a final failure", () => {
    const last = running(1);
    last.tracker.fail(0, failure);
    expect(track(last.tracker.current, 1, 1).tracker.inPhase("FAILED")).to.deep.equal([0]);
    const incompatible = track();
    incompatible.tracker.enter([0], "CHECK_COMPLIANCE");
    incompatible.tracker.fail(0, hostFailure("HOST_INCOMPATIBLE", "cannot take it"), { isFinal: true });
    expect(incompatible.tracker.inPhase("FAILED")).to.deep.equal([0]);
    expect(incompatible.tracker.current.failures).to.deep.equal([0]);
    expect(incompatible.statuses()).to.deep.equal(["FAILED", "PENDING", "PENDING", "PENDING"]);
  });

  it("gives the failure of a host alone with all the words of the component manager", () => {
    const { tracker } = running(1);
    tracker.fail(0, hostFailure("HOST_REMEDIATION_FAILED", "failed", ["No space.", "The disk is full."]));
    expect(tracker.result().failed[0]?.error).to.deep.equal({
      errorCode: "HOST_REMEDIATION_FAILED",
      errorType: "FAILED_DEPENDENCY",
      message: "Host esx-0 failed: No space.",
      remediationMessage: "Resolve what the component manager reports for the host, then retry the upgrade.",
      context: { cluster: "cluster-01", host: "esx-0", componentManager: "vc-01" },
      causes: [{ message: "No space." }, { message: "The disk is full." }],
    });
  });

  it("tells once what several hosts have in common", () => {
    const { tracker } = track(undefined, 3);
    tracker.enter([0, 1, 2], "REMEDIATE");
    for (const place of [0, 1, 2]) tracker.fail(place, failure);
    expect(tracker.current.failed.map(({ hosts, what }) => ({ hosts, what }))).to.deep.equal([
      { hosts: [0, 1, 2], what: "failed: No space." },
    ]);
    tracker.noteLeftBehind(1, "It stays in maintenance mode.");
    tracker.noteLeftBehind(1, "It stays in maintenance mode.");
    expect(tracker.current.failed.map(({ hosts }) => hosts)).to.deep.equal([[0, 2], [1]]);
    expect(tracker.errorOf(1).message).to.equal("Host esx-1 failed: No space. It stays in maintenance mode.");
  });

  it("takes whichever knows of more failures: its own details or what the Workflow was told", () => {
    const progress = (count: number, activity: string) => sampleProgress({ failures: [count], activity });
    expect(knownProgress(undefined, undefined)).to.equal(undefined);
    expect(knownProgress({ nonsense: true }, undefined)).to.equal(undefined);
    expect(knownProgress(undefined, progress(1, "told"))?.activity).to.equal("told");
    expect(knownProgress(progress(1, "own"), progress(1, "told"))?.activity).to.equal("own");
    expect(knownProgress(progress(0, "own"), progress(1, "told"))?.activity).to.equal("told");
  });

  it("knows nothing by what was told of other hosts", () => {
    const { tracker } = track(sampleProgress({ phases: "rr", failures: [1, 1] }));
    expect(tracker.current).to.deep.include({ phases: "w", failures: [0] });
  });
});

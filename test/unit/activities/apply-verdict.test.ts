import { expect } from "chai";
import { verdictOfTask, worksOn } from "../../../activities/clusters/image/remediation-requests";
import { endedByRestart } from "../../../activities/complete-task";
import type { ApplyResult, TaskInfo } from "../../../activities/drivers/vlcm/vlcm-models";

const notified = (...texts: string[]) => ({
  errors: texts.map((default_message) => ({ message: { default_message } })),
});
const task = (status: string, result?: ApplyResult, error?: unknown): TaskInfo => ({
  status,
  operation: "apply$task",
  service: "com.vmware.esx.settings.clusters.software",
  cancelable: false,
  ...(result && { result }),
  ...(error !== undefined && { error }),
});

describe("the verdict of a remediation", () => {
  it("is OK where the host is among the successful ones", () => {
    expect(verdictOfTask(task("SUCCEEDED", { successful_hosts: ["host-1"] }), "host-1").verdict).to.equal("OK");
    expect(verdictOfTask(task("FAILED", { host_status: { "host-1": { status: "OK" } } }), "host-1").verdict).to.equal(
      "OK",
    );
  });

  it("is a failure where the task succeeded with a failed host in it", () => {
    const result: ApplyResult = {
      host_status: { "host-1": { status: "ERROR", notifications: notified("No space left on device.") } },
      failed_hosts: ["host-1"],
    };
    expect(verdictOfTask(task("SUCCEEDED", result), "host-1")).to.deep.equal({
      verdict: "FAILED",
      reasons: ["No space left on device."],
    });
    expect(
      verdictOfTask(task("SUCCEEDED", { host_status: { "host-1": { status: "TIMED_OUT" } } }), "host-1").verdict,
    ).to.equal("FAILED");
  });

  it("takes the reason of a failed task from its error, else from its result", () => {
    const error = { messages: [{ default_message: "An internal error." }] };
    expect(verdictOfTask(task("FAILED", undefined, error), "host-1")).to.deep.equal({
      verdict: "FAILED",
      reasons: ["An internal error."],
    });
    expect(
      verdictOfTask(task("FAILED", { notifications: notified("The vSAN is not healthy.") }), "host-1"),
    ).to.deep.equal({
      verdict: "FAILED",
      reasons: ["The vSAN is not healthy."],
    });
  });

  it("leaves a host to a look at it where only the result says that the manager has restarted", () => {
    const message = { id: "a.TaskError.CanceledDueToServiceRestart", default_message: "Canceled." };
    const result: ApplyResult = { failed_hosts: ["host-1"], notifications: { errors: [{ message }] } };
    expect(verdictOfTask(task("SUCCEEDED", result), "host-1").verdict).to.equal("UNKNOWN");
    expect(endedByRestart(task("FAILED", result))).to.equal(true);
    const own = { "host-1": { status: "ERROR", notifications: notified("No space left on device.") } };
    expect(verdictOfTask(task("SUCCEEDED", { ...result, host_status: own }), "host-1").verdict).to.equal("FAILED");
  });

  it("leaves a skipped host, and a result that says nothing, to a look at the host", () => {
    expect(verdictOfTask(task("SUCCEEDED", { skipped_hosts: ["host-1"] }), "host-1").verdict).to.equal("UNKNOWN");
    expect(verdictOfTask(task("SUCCEEDED"), "host-1").verdict).to.equal("UNKNOWN");
  });

  it("is not about this host where only others are named, whether they failed or not", () => {
    expect(verdictOfTask(task("SUCCEEDED", { successful_hosts: ["host-2"] }), "host-1").verdict).to.equal("OTHER");
    expect(verdictOfTask(task("FAILED", { failed_hosts: ["host-2"] }), "host-1").verdict).to.equal("OTHER");
  });

  it("tells while it runs whether it works on the host, once it says so", () => {
    expect(worksOn(task("RUNNING"), "host-1")).to.equal(undefined);
    expect(worksOn(task("RUNNING", { host_status: { "host-1": { status: "RUNNING" } } }), "host-1")).to.equal(true);
    expect(worksOn(task("RUNNING", { host_status: { "host-2": { status: "RUNNING" } } }), "host-1")).to.equal(false);
  });
});

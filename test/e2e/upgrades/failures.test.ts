import { expect } from "chai";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { example, exampleNow } from "../../support/service/examples";
import { hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

const [firstHost, secondHost] = ["fra1-esx-01.mgmt.example.com", "fra1-esx-02.mgmt.example.com"];

function host(task: Task, fqdn: string): SubTask | undefined {
  return hostsOf(task).find(({ name }) => name === fqdn);
}

function ended({ status }: Task): boolean {
  return status !== "Pending" && status !== "In Progress";
}

/** The example's cluster with a failure action. */
function withAction(hostosUpgradeFailureAction: object) {
  const spec = exampleNow("cluster-draft");
  const [resource] = spec.resourceUpgradeSpecs;
  return { ...spec, resourceUpgradeSpecs: [{ ...resource, hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction } }] };
}

describe("failures that operators meet", function () {
  this.timeout(120_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  it("FAIL: stops the cluster at the failed host, restores its policy, and a retry finishes the rest", async () => {
    const policy = await service.policy("domain-c34");
    await service.fault({ kind: "REMEDIATION_FAILS", host: secondHost, times: 1, message: "bootbank is too small" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const failed = await service.taskWhen(id, "ended", ended);
    expect(failed.status).to.equal("Failed");
    expect(failed.isRetryable).to.equal(true);
    expect(failed.resolutionStatus).to.equal("UNRESOLVED");
    expect(hostsOf(failed).map(({ status }) => status)).to.deep.equal([
      "SUCCESSFUL",
      "FAILED",
      "NOT_APPLICABLE",
      "NOT_APPLICABLE",
    ]);
    const [error] = host(failed, secondHost)?.errors ?? [];
    expect(error?.errorCode).to.equal("HOST_REMEDIATION_FAILED");
    expect(JSON.stringify(error)).to.contain("bootbank is too small");
    expect(error?.remediationMessage).to.be.a("string");
    expect(failed.errors?.[0]?.message).to.contain("fra1-mgmt-cl01").and.to.contain("2 were not begun");
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
    const warnings = service.log("worker").filter(({ level, msg }) => level >= 40 && msg.includes("bootbank"));
    expect(warnings, "one line a failure").to.have.length(1);
    expect(warnings[0]).to.have.property("taskId", id);

    await service.signalUpgrade(id, "retry", { requestedBy: "a test" });
    const done = await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    expect(done.resolutionStatus).to.equal("RESOLVED");
    expect(done.errors, "earlier errors stay").to.deep.equal(failed.errors);
    expect(hostsOf(done).map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESSFUL"));
    expect(Object.values(await service.remediations()).sort()).to.deep.equal([1, 1, 1, 2]);
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
  });

  it("RETRY: shows the attempt, its error and the time of the next one, then succeeds", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", host: firstHost, times: 2, message: "no space left" });
    const { id } = await service.startUpgrade(withAction({ action: "RETRY", retryCount: 2, retryDelay: 3 }));
    const between = await service.taskWhen(id, "waits for the second attempt", (task) =>
      /^Attempt 2 of 3 starts at \d{4}-\d\d-\d\dT/.test(host(task, firstHost)?.description ?? ""),
    );
    expect(host(between, firstHost)?.status).to.equal("IN_PROGRESS");
    expect(JSON.stringify(host(between, firstHost)?.errors)).to.contain("no space left");
    const done = await service.taskWhen(id, "ended", ended);
    expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
    expect(Object.values(await service.remediations()).sort()).to.deep.equal([1, 1, 1, 3]);
  });

  it("RETRY: fails when the attempts are used up, and resolve gives up", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", host: firstHost, times: 9 });
    const { id } = await service.startUpgrade(withAction({ action: "RETRY", retryCount: 1, retryDelay: 0 }));
    const failed = await service.taskWhen(id, "ended", ended);
    expect(failed.status).to.equal("Failed");
    expect(Object.values(await service.remediations())).to.deep.equal([2]);
    await service.signalUpgrade(id, "resolve");
    const resolved = await service.taskWhen(
      id,
      "is resolved",
      ({ resolutionStatus }) => resolutionStatus === "RESOLVED",
    );
    expect(resolved.status).to.equal("Failed");
    expect(resolved.isRetryable).to.equal(false);
    await until("the Workflow has closed as failed", () =>
      service.withTemporal(async (client) => (await client.workflow.getHandle(id).describe()).status.name === "FAILED"),
    );
    expect((await service.task(id)).status).to.equal("Failed");
  });

  const passing: Record<string, Record<string, unknown>> = {
    "a service that answers 503 for a while": { kind: "SERVICE_UNAVAILABLE", seconds: 2 },
    "sessions that expire": { kind: "SESSIONS_EXPIRED" },
    "a component manager that forgets its tasks": { kind: "TASKS_FORGOTTEN" },
    "another operation in progress": { kind: "OPERATION_IN_PROGRESS", times: 3 },
    "an apply whose answer is lost": {
      kind: "CONNECTION_DROPPED",
      method: "POST",
      path: "action=apply",
      after: true,
      times: 1,
    },
    "connections that are dropped": { kind: "CONNECTION_DROPPED", times: 5 },
  };
  for (const [what, fault] of Object.entries(passing)) {
    it(`${what}: uses up no attempt, and no host is upgraded twice`, async () => {
      const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
      await until(
        "the first host is being remediated",
        async () => Object.keys(await service.remediations()).length > 0,
      );
      await service.fault(fault);
      const done = await service.taskWhen(id, "ended", ended);
      expect(done.status, JSON.stringify(done.errors)).to.equal("Successful");
      expect(Object.values(await service.remediations())).to.deep.equal([1, 1, 1, 1]);
    });
  }

  it("failed prechecks: an upgrade ends before anything is touched, a draft cannot be committed", async () => {
    await service.fault({ kind: "CHECK_FAILS", host: secondHost, issue: "vSAN health is red", times: 9 });
    const before = await service.ledger();
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const failed = await service.taskWhen(id, "ended", ended);
    expect(failed.status).to.equal("Failed");
    expect(failed.errors?.[0]?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(JSON.stringify(failed.subTasks?.[0])).to.contain("vSAN health is red");
    const checks = failed.subTasks?.[0]?.subTasks?.[0]?.stages ?? [];
    expect(checks.filter(({ status }) => status === "FAILED")).to.have.length(1);
    expect(checks.filter(({ status }) => status === "SUCCESSFUL").length).to.be.greaterThan(4);

    const draft = await service.startUpgrade(example("cluster-draft"));
    await service.taskWhen(draft.id, "has failed prechecks", ({ subTasks }) => subTasks?.[0]?.status === "FAILED");
    await service.signalUpgrade(draft.id, "commit", { requestId: "r1" });
    const outcome = await service.withTemporal((client) =>
      client.workflow
        .getHandle(draft.id)
        .query<{ accepted: boolean; reason: { errorCode: string } }, [string]>("request", "r1"),
    );
    expect(outcome.accepted).to.equal(false);
    expect(outcome.reason.errorCode).to.equal("PRECHECKS_FAILED");
    expect((await service.get<Upgrade>(`/v1/upgrades/${draft.id}`)).body.status).to.equal("DRAFT");
    expect(await service.ledger()).to.deep.equal(before);
  });

  it("a cancellation in the middle of a host restores the policy and ends as Cancelled", async () => {
    const policy = await service.policy("domain-c34");
    // Long enough to be seen in work on a machine that is busy.
    await service.fault({ kind: "HOST_SLOW", host: secondHost, factor: 10, times: 1 });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(
      id,
      "has its second host in work",
      (task) => host(task, secondHost)?.status === "IN_PROGRESS",
    );
    await service.withTemporal((client) => client.workflow.getHandle(id).cancel());
    const cancelled = await service.taskWhen(id, "ended", ended);
    expect(cancelled.status, JSON.stringify(cancelled.errors)).to.equal("Cancelled");
    expect(
      hostsOf(cancelled)
        .map(({ status }) => status)
        .slice(2),
    ).to.deep.equal(["NOT_APPLICABLE", "NOT_APPLICABLE"]);
    expect(host(cancelled, firstHost)?.status).to.equal("SUCCESSFUL");
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("CANCELLED");
  });
});

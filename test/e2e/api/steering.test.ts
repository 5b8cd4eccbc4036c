import { expect } from "chai";
import { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../../src/domain/errors";
import type { UpgradePreview } from "../../../src/domain/plan/preview";
import type { Bundle, PageOfBundle } from "../../../src/domain/spec/bundle";
import type { Cluster, PageOfCluster } from "../../../src/domain/spec/cluster";
import { type PageOfTask, Task } from "../../../src/domain/spec/task";
import { Upgrade } from "../../../src/domain/spec/upgrade";
import type { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { example, exampleNow } from "../../support/service/examples";
import { type Answer, hostsOf, ServiceUnderTest, until } from "../../support/service/service-under-test";

const clusterId = "4a6c1a1e-51b2-4d3c-9e0f-000000000034";
const unknownId = "00000000-0000-4000-8000-000000000000";
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

/** The body of a refusal with this status and code. */
function refusal({ status, body }: Answer, expected: number, code: string): ErrorBody {
  const error = body as ErrorBody;
  expect({ status, code: error.errorCode }, JSON.stringify(body)).to.deep.equal({ status: expected, code });
  return error;
}

/** The body of a success, which is an Upgrade or a Task to the letter. */
function upgradeOf({ status, body }: Answer): Upgrade {
  expect(status, JSON.stringify(body)).to.equal(200);
  if (!Upgrade.is(body)) throw new Error(`Not an Upgrade: ${JSON.stringify(body)}`);
  return body;
}

function taskOf({ status, body }: Answer, expected = 200): Task {
  expect(status, JSON.stringify(body)).to.equal(expected);
  if (!Task.is(body)) throw new Error(`Not a Task: ${JSON.stringify(body)}`);
  return body;
}

const hasWaitingDraft = (task: Task) => task.status === "Pending" && task.subTasks?.[0]?.status !== "PENDING";
const hasHostInWork = (task: Task) => hostsOf(task).some(({ status }) => status === "IN_PROGRESS");

describe("steering an upgrade over HTTP", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({ SIMULATOR_HOST_SECONDS: "1", POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  const draft = async () => {
    const { id } = await service.startUpgrade(example("cluster-draft"));
    return (await service.taskWhen(id, "waits for its commit", hasWaitingDraft)).id;
  };
  const statusOf = async (id: string) => upgradeOf(await service.get(`/v1/upgrades/${id}`)).status;
  const untilStatus = (id: string, status: string) =>
    until(`upgrade ${id} is ${status}`, async () => (await statusOf(id)) === status);

  it("tells the activity of an upgrade page by page, also after its end", async () => {
    const id = await draft();
    refusal(await service.send("POST", `/v1/upgrades/${id}/resume`), 409, "REQUEST_NOT_POSSIBLE");
    await service.send("DELETE", `/v1/tasks/${id}`);
    await service.taskWhen(id, "is cancelled", ({ status }) => status === "Cancelled");
    const page = async (query: string) => {
      const { status, body } = await service.get(`/v1/upgrades/${id}/activity${query}`);
      if (status !== 200 || !PageOfActivity.is(body)) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return body;
    };
    const { elements = [], dropped } = await page("");
    expect(elements.map(({ kind, outcome = "" }) => `${kind} ${outcome}`.trimEnd())).to.deep.equal([
      "CREATE ACCEPTED",
      "PRECHECKS_PASSED",
      "RESUME REFUSED",
      "CANCEL ACCEPTED",
      "CANCELLED",
    ]);
    expect(dropped).to.equal(0);
    expect(await page("?pageNumber=2&pageSize=2")).to.deep.equal({
      elements: elements.slice(4),
      pageMetadata: { pageNumber: 2, pageSize: 2, totalElements: 5, totalPages: 3 },
      dropped: 0,
    });
    refusal(await service.get(`/v1/upgrades/${unknownId}/activity`), 404, "UPGRADE_NOT_FOUND");
  });

  it("commits a draft with an empty body, and then answers 409 where it is too late", async () => {
    const id = await draft();
    expect(upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`)).status).to.not.equal("DRAFT");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    const late = refusal(await service.send("PATCH", `/v1/upgrades/${id}/`, {}), 409, "REQUEST_NOT_POSSIBLE");
    expect(late.context).to.deep.equal({ status: "COMPLETED_WITH_SUCCESS" });
    for (const [method, path] of [
      ["POST", `/v1/upgrades/${id}/pause`],
      ["POST", `/v1/upgrades/${id}/resume`],
      ["POST", `/v1/upgrades/${id}/resolve`],
      ["POST", `/v1/upgrades/${id}/prechecks`],
      ["PATCH", `/v1/tasks/${id}`],
      ["DELETE", `/v1/tasks/${id}`],
    ] as const) {
      refusal(await service.send(method, path), 409, "REQUEST_NOT_POSSIBLE");
    }
  });

  it("commits for a later time, reschedules, and runs when it is told to", async () => {
    const id = await draft();
    const later = inAnHour();
    const scheduled = upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, { scheduledTimestamp: later }));
    expect(scheduled.resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(later);
    await untilStatus(id, "SCHEDULED");
    const evenLater = inAnHour();
    const moved = upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, { scheduledTimestamp: evenLater }));
    expect([moved.status, moved.resourceUpgradeSpecs?.[0]?.scheduledTimestamp]).to.deep.equal(["SCHEDULED", evenLater]);
    const request = (await service.get<UpgradeSpec>(`/v1/upgrades/${id}/request`)).body;
    expect(request).to.deep.equal({ ...example("cluster-draft"), resourceUpgradeSpecs: moved.resourceUpgradeSpecs });
    const plan = (await service.get<UpgradePreview>(`/v1/upgrades/${id}/plan`)).body;
    expect(plan.products[0]?.resources[0]).to.include({
      scheduledTimestamp: evenLater,
      hostCount: 4,
      hostsAtTarget: 0,
    });
    expect(plan.waves.map(({ parts }) => parts[0]?.hosts?.length)).to.deep.equal([1, 1, 1, 1]);
    const same = upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, {}));
    expect(same.resourceUpgradeSpecs).to.deep.equal(moved.resourceUpgradeSpecs);
    upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, { upgradeNow: true }));
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });

  it("sends a scheduled upgrade nothing that changes nothing, so that no loop makes its history longer", async () => {
    const id = await draft();
    const later = inAnHour();
    const reschedule = (body: object) => service.send("PATCH", `/v1/upgrades/${id}`, body);
    upgradeOf(await reschedule({ scheduledTimestamp: later }));
    await untilStatus(id, "SCHEDULED");
    const events = () =>
      service.withTemporal(async (client) => (await client.workflow.getHandle(id).describe()).historyLength);
    const before = await events();
    for (const body of [{}, { scheduledTimestamp: later }, { scheduledTimestamp: later.replace("Z", "+00:00") }])
      expect(upgradeOf(await reschedule(body)).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(later);
    expect(await events()).to.equal(before);
    upgradeOf(await reschedule({ scheduledTimestamp: new Date(Date.now() + 7_200_000).toISOString() }));
    expect(await events(), "another time is sent").to.be.greaterThan(before);
    const shown = upgradeOf(await service.get(`/v1/upgrades/${id}`)).resourceUpgradeSpecs?.[0]?.scheduledTimestamp;
    service.signal("worker", "SIGSTOP");
    // What a worker has not seen may change the time that is shown: the way back to it has to be sent as well.
    for (const scheduledTimestamp of [later, shown])
      refusal(await reschedule({ scheduledTimestamp }), 424, "REQUEST_NOT_YET_APPLIED");
    service.signal("worker", "SIGCONT");
    await until("the worker has seen both", async () => (await reschedule({})).status === 200);
    expect(upgradeOf(await reschedule({})).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(shown);
    taskOf(await service.send("DELETE", `/v1/tasks/${id}`));
  });

  it("refuses what is wrong with a path, and what it does not know with 404", async () => {
    const id = await draft();
    const past = { scheduledTimestamp: "2020-01-01T00:00:00Z" };
    const refused = refusal(await service.send("PATCH", `/v1/upgrades/${id}`, past), 400, "SCHEDULE_IN_THE_PAST");
    expect(refused.context).to.deep.equal({ path: "scheduledTimestamp" });
    refusal(await service.send("PATCH", `/v1/upgrades/${id}`, { upgradeNow: "yes" }), 400, "INVALID_FIELD");
    for (const [method, path, code] of [
      ["PATCH", `/v1/upgrades/${unknownId}`, "UPGRADE_NOT_FOUND"],
      ["POST", `/v1/upgrades/${unknownId}/pause`, "UPGRADE_NOT_FOUND"],
      ["POST", `/v1/upgrades/${unknownId}/prechecks`, "UPGRADE_NOT_FOUND"],
      ["PATCH", `/v1/tasks/${unknownId}`, "TASK_NOT_FOUND"],
      ["DELETE", `/v1/tasks/${unknownId}`, "TASK_NOT_FOUND"],
    ] as const) {
      refusal(await service.send(method, path), 404, code);
    }
    refusal(await service.send("POST", `/v1/upgrades/${id}/pause`), 409, "REQUEST_NOT_POSSIBLE");
    refusal(await service.send("POST", `/v1/upgrades/${id}/resolve`), 409, "REQUEST_NOT_POSSIBLE");
    refusal(await service.send("PATCH", `/v1/tasks/${id}`), 409, "REQUEST_NOT_POSSIBLE");
    const cancelled = upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, { markForCancellation: true }));
    expect(cancelled.status).to.equal("CANCELLED");
    expect((await service.task(id)).status).to.equal("Cancelled");
  });

  it("names the failed checks of a draft, runs them again, and keeps both runs readable", async () => {
    await service.fault({ kind: "CHECK_FAILS", times: 1, issue: "the vSAN is not healthy" });
    const id = await draft();
    const failed = refusal(await service.send("PATCH", `/v1/upgrades/${id}`), 409, "PRECHECKS_FAILED");
    expect(JSON.stringify(failed.nestedErrors)).to.contain("the vSAN is not healthy");

    await service.fault({ kind: "SLOW", times: 1, path: "action=check", milliseconds: 5_000 });
    const begun = await service.send<Task>("POST", `/v1/upgrades/${id}/prechecks`);
    const run = taskOf(begun, 202);
    expect(run).to.include({ id: `${id}-prechecks-2`, status: "In Progress" });
    expect(begun.headers.get("location")).to.equal(`/v1/tasks/${run.id}`);
    refusal(await service.send("POST", `/v1/upgrades/${id}/prechecks`), 409, "REQUEST_NOT_POSSIBLE");
    await service.taskWhen(run.id, "has passed", ({ status }) => status === "Successful");
    expect((await service.get(`/v1/upgrades/${id}/prechecks/${run.id}`)).body).to.deep.equal(
      (await service.get(`/v1/tasks/${run.id}`)).body,
    );
    const first = taskOf(await service.get(`/v1/upgrades/${id}/prechecks/${id}-prechecks-1`));
    expect(first.status).to.equal("Failed");
    expect(JSON.stringify(first)).to.contain("the vSAN is not healthy");
    refusal(await service.get(`/v1/upgrades/${id}/prechecks/${id}-prechecks-3`), 404, "PRECHECK_NOT_FOUND");
    refusal(await service.send("DELETE", `/v1/tasks/${run.id}`), 409, "REQUEST_NOT_POSSIBLE");

    upgradeOf(await service.send("PATCH", `/v1/upgrades/${id}`, {}));
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  });

  it("pauses between hosts and goes on, by HTTP and by Signal alike", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has a host in work", hasHostInWork);
    expect(upgradeOf(await service.send("POST", `/v1/upgrades/${id}/pause`)).status).to.equal("PAUSED");
    refusal(await service.send("POST", `/v1/upgrades/${id}/pause`), 409, "REQUEST_NOT_POSSIBLE");
    const paused = await service.taskWhen(id, "has no host in work", (task) => !hasHostInWork(task));
    expect(paused.status).to.equal("In Progress");
    expect(hostsOf(paused).map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING", "PENDING"]);
    expect(upgradeOf(await service.send("POST", `/v1/upgrades/${id}/resume`)).status).to.equal("INPROGRESS");
    await service.taskWhen(id, "has a host in work again", hasHostInWork);
    await service.signalUpgrade(id, "pause");
    await untilStatus(id, "PAUSED");
    await service.signalUpgrade(id, "resume");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    expect(Object.values(await service.remediations())).to.deep.equal([1, 1, 1, 1]);
  });

  it("cancels in the middle of a host; asked again meanwhile it says so, and afterwards 409", async () => {
    const policy = await service.policy("domain-c34");
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "has a host in work", hasHostInWork);
    const first = taskOf(await service.send("DELETE", `/v1/tasks/${id}`));
    expect(first.status).to.be.oneOf(["In Progress", "Cancelled"]);
    const again = await service.send("DELETE", `/v1/tasks/${id}`);
    expect(again.status, "on its way, or just over").to.be.oneOf([200, 409]);
    const cancelled = await service.taskWhen(id, "is cancelled", ({ status }) => status === "Cancelled");
    expect(cancelled).to.include({ isCancellable: false, isRetryable: false });
    expect(await service.policy("domain-c34")).to.deep.equal(policy);
    refusal(await service.send("DELETE", `/v1/tasks/${id}`), 409, "REQUEST_NOT_POSSIBLE");
    refusal(await service.send("PATCH", `/v1/tasks/${id}`), 409, "REQUEST_NOT_POSSIBLE");
    expect(await statusOf(id)).to.equal("CANCELLED");
  });

  it("retries a failed upgrade, and gives one up", async () => {
    await service.fault({ kind: "REMEDIATION_FAILS", times: 2, message: "bootbank is too small" });
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    const failed = await service.taskWhen(id, "has failed", ({ status }) => status === "Failed");
    const retried = taskOf(await service.send("PATCH", `/v1/tasks/${id}`, {}));
    expect(retried.status).to.be.oneOf(["Pending", "In Progress"]);
    expect([retried.id, retried.creationTimestamp]).to.deep.equal([id, failed.creationTimestamp]);
    expect(retried.errors, "earlier errors stay").to.deep.equal(failed.errors);
    await service.taskWhen(id, "has failed again", (task) => task.status === "Failed" && task.errors?.length === 2);
    const resolved = upgradeOf(await service.send("POST", `/v1/upgrades/${id}/resolve`));
    expect(resolved.status).to.equal("COMPLETED_WITH_FAILURE");
    expect(await service.task(id)).to.include({ resolutionStatus: "RESOLVED", isRetryable: false });
    refusal(await service.send("POST", `/v1/upgrades/${id}/resolve`), 409, "REQUEST_NOT_POSSIBLE");
  });

  it("keeps a request for the worker where none runs, says so, and applies it later", async () => {
    const id = await draft();
    const [scheduled, over] = [await draft(), await draft()];
    taskOf(await service.send("DELETE", `/v1/tasks/${over}`));
    service.signal("worker", "SIGSTOP");
    const [commit, cancel, tooLate] = await Promise.all([
      service.send("PATCH", `/v1/upgrades/${id}`, { scheduledTimestamp: inAnHour() }),
      service.send("DELETE", `/v1/tasks/${scheduled}`),
      service.send("PATCH", `/v1/upgrades/${over}`),
    ]);
    refusal(tooLate, 409, "REQUEST_NOT_POSSIBLE");
    expect(refusal(commit, 424, "REQUEST_NOT_YET_APPLIED").message).to.contain(id);
    refusal(cancel, 424, "REQUEST_NOT_YET_APPLIED");
    expect(await statusOf(id)).to.equal("DRAFT");
    service.signal("worker", "SIGCONT");
    await untilStatus(id, "SCHEDULED");
    await untilStatus(scheduled, "CANCELLED");
    taskOf(await service.send("DELETE", `/v1/tasks/${id}`));
  });

  it("shows what to upgrade and to what, and who holds it", async () => {
    const { body: bundles } = await service.get<PageOfBundle>("/v1/bundles?unknown=1");
    const bundleId = example("cluster-draft").bundleId;
    const bundle = bundles.elements?.find(({ id }) => id === bundleId);
    expect((await service.get<Bundle>(`/v1/bundles/${bundleId}`)).body).to.deep.equal(bundle);
    refusal(await service.get("/v1/bundles/none"), 404, "BUNDLE_NOT_FOUND");

    const { body: clusters } = await service.get<PageOfCluster>("/v1/clusters/");
    expect(new Set(clusters.elements?.map(({ kind }) => kind))).to.deep.equal(new Set(["IMAGE", "BASELINE"]));
    for (const { id, kind, hostCount, errors } of clusters.elements ?? []) {
      expect(errors).to.equal(undefined);
      const { body } = await service.get<Cluster>(`/v1/clusters/${id}`);
      expect(body).to.include({ id, kind, hostCount });
      expect(body.errors, JSON.stringify(body)).to.equal(undefined);
      expect(body.hosts).to.have.length(hostCount ?? -1);
      if (kind === "BASELINE") expect(body.versions?.length).to.be.greaterThan(0);
    }
    refusal(await service.get("/v1/clusters/none"), 404, "CLUSTER_NOT_FOUND");

    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await until("its cluster is held", async () => {
      const { body } = await service.get<Cluster>(`/v1/clusters/${clusterId}`);
      return body.heldBy === id;
    });
    refusal(await service.post("/v1/upgrades/preview", exampleNow("cluster-draft")), 403, "RESOURCE_LOCKED");
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    const done = await service.get<Cluster>(`/v1/clusters/${clusterId}`);
    expect(done.body.versions).to.deep.equal(["9.0.2-0.25148076"]);
    await until("it is free again", async () => {
      const { body } = await service.get<Cluster>(`/v1/clusters/${clusterId}`);
      return body.heldBy === undefined;
    });
    const preview = await service.post<UpgradePreview>("/v1/upgrades/preview", exampleNow("cluster-draft"));
    expect(preview.status, JSON.stringify(preview.body)).to.equal(200);
    expect(preview.body.products[0]?.resources[0]).to.include({ resourceId: clusterId, kind: "IMAGE" });
  });

  it("lists Tasks by status, resource and page, without their parts", async () => {
    const waiting = await draft();
    const byStatus = async (query: string) =>
      (await service.get<PageOfTask>(`/v1/tasks?${query}`)).body.elements?.map(({ id }) => id) ?? [];
    await until("the draft is listed", async () => (await byStatus("taskStatus=Pending")).includes(waiting));
    expect(await byStatus("taskStatus=PENDING")).to.deep.equal(await byStatus("taskStatus=Pending"));
    expect(await byStatus("taskStatus=Cancelled")).to.not.include(waiting);
    expect(await byStatus(`resourceId=${clusterId}&taskStatus=Pending`)).to.include(waiting);
    expect(await byStatus("resourceId=none")).to.deep.equal([]);
    const { body: page } = await service.get<PageOfTask>("/v1/tasks?pageNumber=0&pageSize=2");
    expect(page.elements).to.have.length(2);
    expect(page.pageMetadata).to.include({ pageNumber: 0, pageSize: 2 });
    for (const task of page.elements ?? []) {
      expect(task).to.include.all.keys("id", "name", "type", "status", "creationTimestamp");
      expect(task).to.not.have.property("subTasks");
    }
    refusal(await service.get("/v1/tasks?taskStatus=Running"), 400, "INVALID_PARAMETER");
    await service.withTemporal((client) => client.workflow.getHandle(waiting).terminate("by hand"));
    await until("the terminated one counts as failed", async () =>
      (await byStatus("taskStatus=FAILED")).includes(waiting),
    );
    refusal(await service.send("PATCH", `/v1/upgrades/${waiting}`), 409, "REQUEST_NOT_POSSIBLE");
    refusal(await service.send("DELETE", `/v1/tasks/${waiting}`), 409, "REQUEST_NOT_POSSIBLE");
  });
});

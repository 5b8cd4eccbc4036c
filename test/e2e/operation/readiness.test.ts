import { expect } from "chai";
import type { PageOfReadinessSchedule } from "../../../src/domain/readiness/readiness-spec";
import type { PageOfTask, Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import type { UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { Upgradectl } from "../../support/run-upgradectl";
import { example } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";

describe("Readiness checks over HTTP", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  before(async () => {
    service = await ServiceUnderTest.start({ POLL_MIN_MILLISECONDS: "50" });
  });
  after(() => service.discard());

  const draft = example("cluster-draft") as UpgradeSpec;
  const { bundleId } = draft;
  const resourceIds = draft.resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
  const schedules = async () =>
    (await service.get<PageOfReadinessSchedule>("/v1/prechecks/schedules")).body.elements ?? [];

  it("run the prechecks of real Activities, are read and followed as Tasks, and upgrade and lock nothing", async () => {
    const { status, body: task } = await service.post<Task>("/v1/prechecks", { bundleId, resourceIds });
    expect(status, JSON.stringify(task)).to.equal(202);
    const ended = await service.taskWhen(task.id, "has ended", ({ isCancellable }) => isCancellable === false, 60);
    expect(ended.status, JSON.stringify(ended)).to.be.oneOf(["Successful", "COMPLETED_WITH_WARNING"]);
    expect(ended.subTasks?.flatMap(({ stages = [] }) => stages.map(({ type }) => type))).to.include("HOSTS_CONNECTED");
    const events = await fetch(`${service.apiUrl}/v1/tasks/${task.id}/events`);
    expect(await events.text())
      .to.contain("event: snapshot")
      .and.to.contain("event: end");
    await until("it is listed", async () =>
      ((await service.get<PageOfTask>("/v1/prechecks")).body.elements ?? []).some(({ id }) => id === task.id),
    );
    expect((await service.get<PageOfUpgrade>("/v1/upgrades")).body.elements).to.deep.equal([]);
    expect((await service.get<PageOfTask>("/v1/tasks")).body.elements).to.deep.equal([]);
    expect((await service.get(`/v1/upgrades/${task.id}`)).status).to.equal(404);
    expect(await service.remediations()).to.deep.equal({});
    expect((await service.send("DELETE", `/v1/tasks/${task.id}`)).status).to.equal(409);
    expect((await service.send("PATCH", `/v1/tasks/${task.id}`)).status).to.equal(409);
  });

  it("are scheduled, watched, listed and ended by upgradectl", async () => {
    const cli = new Upgradectl();
    cli.env = { UPGRADECTL_SERVER: service.apiUrl, UPGRADECTL_TOKEN: "alice" };
    const nightly = ["--schedule", "0 2 * * *", "--zone", "Europe/Berlin"];
    const checked = await cli.run(["check", "--cluster", resourceIds.join(), "--to", bundleId, ...nightly, "--watch"]);
    expect(checked.code, checked.stderr).to.equal(0);
    await until("the schedule is listed", async () => (await schedules()).length === 1);
    const [schedule] = await schedules();
    expect(schedule).to.deep.include({ bundleId, resourceIds, createdBy: "dev" });
    expect(Date.parse(schedule?.nextRun ?? "")).to.be.greaterThan(Date.now());
    const { id = "" } = schedule ?? {};
    expect((await cli.run(["checks"])).stdout).to.contain(`Schedule ${id}  0 2 * * * in Europe/Berlin`);
    expect((await cli.run(["checks", id])).code).to.equal(0);
    expect((await cli.run(["checks", id, "--delete"])).code).to.equal(0);
    await until("no schedule is listed", async () => (await schedules()).length === 0);
    expect((await service.send("DELETE", `/v1/prechecks/schedules/${id}`)).status).to.equal(404);
    cli.discard();
  });
});

import { randomUUID } from "node:crypto";
import { Context } from "@temporalio/activity";
import { ScheduleOverlapPolicy } from "@temporalio/client";
import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import { pino } from "pino";
import { type ReadinessPlan, readinessId, readinessPlan } from "../../../src/domain/readiness/readiness-task";
import type { Finding } from "../../../src/domain/spec/finding";
import type { Task } from "../../../src/domain/spec/task";
import { temporalReadinessChecks } from "../../../src/temporal/readiness-checks";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import { FakeActivities, failedCheck, passedCheck } from "../../support/fake-activities";
import { clusters, samplePlan } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

async function right<A>(effect: TaskEither<unknown, A>): Promise<A> {
  const result = await effect();
  if (!isRight(result)) throw new Error(JSON.stringify(result.left));
  return result.right;
}

/** Prechecks that never end by themselves; a worker that stops has them end. */
const untilStopped = () => Context.current().cancelled;

describe("Readiness checks", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const checks = () => temporalReadinessChecks(bench().env.client);
  const executions = () => temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" }));
  const requestedBy = "alice";

  /** Two clusters, whose prechecks these Activities run. */
  async function planned(fake: FakeActivities): Promise<ReadinessPlan> {
    const plan = samplePlan({ resources: clusters(2), now: await bench().now() });
    bench().serve(plan, fake);
    return readinessPlan(plan);
  }
  async function start(fake: FakeActivities, id = readinessId(randomUUID())): Promise<string> {
    expect(await right(checks().start(await planned(fake), { id, requestedBy }))).to.equal("STARTED");
    return id;
  }
  const read = (id: string) => right(checks().read(id));
  const ended = (id: string) =>
    eventually(
      () => read(id),
      ({ isCancellable }) => isCancellable === false,
    );
  const partsOf = ({ subTasks = [] }: Task) => subTasks.map(({ status }) => status);

  it("runs the prechecks of all clusters, keeps what they find, and changes and locks nothing", async () => {
    let checked = 0;
    const fake = new FakeActivities({
      runClusterPrechecks: () => Promise.resolve({ stages: checked++ === 0 ? failedCheck() : passedCheck() }),
    });
    const id = await start(fake);
    const task = await ended(id);
    expect(task).to.deep.include({ id, type: "READINESS", status: "Failed", isCancellable: false, isRetryable: false });
    expect(partsOf(task).sort()).to.deep.equal(["FAILED", "SUCCESSFUL"]);
    expect(task.completionTimestamp).to.be.a("string");
    // What has closed is read without a worker.
    await bench().stopWorker();
    expect(partsOf(await read(id))).to.deep.equal(partsOf(task));
    await bench().startWorker();
    const { status, raw } = await bench().env.client.workflow.getHandle(id).describe();
    expect(status.name).to.equal("COMPLETED");
    expect(raw.pendingChildren).to.deep.equal([]);
    const { events = [] } = await bench().env.client.workflow.getHandle(id).fetchHistory();
    const scheduled = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: one }) => one?.activityType?.name ?? [],
    );
    expect(scheduled).to.deep.equal(["runClusterPrechecks", "runClusterPrechecks"]);
    expect((events ?? []).filter((one) => one.startChildWorkflowExecutionInitiatedEventAttributes)).to.deep.equal([]);
  });

  it("ends with a warning where one is found and nothing worse", async () => {
    const [stage] = passedCheck();
    if (!stage) throw new Error("There is no check");
    const finding: Finding = {
      severity: "WARNING",
      code: "HEALTH_CHECK_WARNING",
      message: "A sensor is old",
      remediationMessage: "Look at it",
      resourceId: "x",
      isAcknowledgeable: true,
    };
    const stages = [{ ...stage, findings: [finding] }];
    const id = await start(new FakeActivities({ runClusterPrechecks: () => Promise.resolve({ stages }) }));
    expect((await ended(id)).status).to.equal("COMPLETED_WITH_WARNING");
  });

  it("is no upgrade: in no list or count, and not readable as one", async () => {
    const id = await start(new FakeActivities());
    await ended(id);
    const { elements = [] } = await eventually(
      () => right(checks().list()),
      (page) => page.elements?.some((one) => one.id === id && one.status === "Successful") === true,
    );
    expect(elements.find((one) => one.id === id)).not.to.have.property("subTasks");
    // Other tests have upgrades there.
    const { resources = [] } = await read(id);
    const ofIts = { resourceId: resources[0]?.resourceId ?? "" };
    expect((await right(executions().list(ofIts))).elements).to.deep.equal([]);
    expect((await right(executions().listTasks(ofIts))).elements).to.deep.equal([]);
    expect((await right(executions().count(ofIts))).total).to.equal(0);
    expect(await executions().readUpgrade(id)()).to.deep.include({ _tag: "Left" });
    expect(await executions().readTask(id)()).to.deep.include({ _tag: "Left" });
  });

  it("can be cancelled while prechecks run", async () => {
    let begun = 0;
    const hangs = () => {
      begun++;
      return untilStopped();
    };
    const id = await start(new FakeActivities({ runClusterPrechecks: hangs }));
    await eventually(
      () => Promise.resolve(begun),
      (count) => count === 2,
    );
    expect(await read(id)).to.deep.include({ status: "In Progress", isCancellable: true });
    await right(checks().cancel(id));
    expect((await ended(id)).status).to.equal("Cancelled");
    expect((await bench().env.client.workflow.getHandle(id).describe()).status.name).to.equal("CANCELLED");
    // Once more changes nothing.
    await right(checks().cancel(id));
  });

  it("is started once, and tells another request with its key", async () => {
    const id = readinessId(randomUUID());
    const plan = await planned(new FakeActivities());
    const send = (requestDigest: string) => right(checks().start(plan, { id, requestedBy, requestDigest }));
    expect(await send("a")).to.equal("STARTED");
    expect(await send("a")).to.equal("REPEATED");
    expect(await send("b")).to.equal("OTHER");
  });

  it("is lost where its Workflow is terminated, and says so", async () => {
    const id = await start(new FakeActivities({ runClusterPrechecks: untilStopped }));
    await bench().env.client.workflow.getHandle(id).terminate("end");
    const task = await ended(id);
    expect(task.status).to.equal("Failed");
    expect(task.errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["READINESS_LOST"]);
  });

  it("runs by a Temporal Schedule under an id of its own each time, leaves out what would overlap, until it is deleted", async () => {
    let finish: () => void = () => undefined;
    const free = new Promise<void>((resolve) => (finish = resolve));
    const fake = new FakeActivities({
      runClusterPrechecks: () => free.then(() => ({ stages: passedCheck() })),
    });
    const id = readinessId(randomUUID());
    const plan = await planned(fake);
    const stored = {
      ...{ name: plan.name, bundleId: "bundle-902", resourceIds: ["a"], createdBy: requestedBy },
      ...{ schedule: { cron: "0 2 * * *", timeZone: "Europe/Berlin" }, createdAt: "2026-11-01T12:00:00.000Z" },
    };
    await right(checks().createSchedule(id, plan, stored));
    // Sent again, nothing is created twice.
    await right(checks().createSchedule(id, plan, stored));
    const listed = () =>
      eventually(
        async () => (await right(checks().listSchedules())).find((one) => one.id === id),
        (one) => one !== undefined,
      );
    const found = await listed();
    expect(found).to.deep.include({ id, ...stored });
    expect(found?.nextRun).to.match(/T0[01]:00:00.000Z$/);
    const handle = bench().env.client.schedule.getHandle(id);
    await handle.trigger(ScheduleOverlapPolicy.SKIP);
    const [taskId = ""] = await eventually(
      async () => (await right(checks().listSchedules())).find((one) => one.id === id)?.taskIds ?? [],
      (ids) => ids.length === 1,
    );
    expect(taskId).to.match(new RegExp(`^${id}-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$`));
    expect(await read(taskId)).to.deep.include({ id: taskId, status: "In Progress" });
    await handle.trigger(ScheduleOverlapPolicy.SKIP);
    await eventually(
      async () => (await handle.describe()).info.numActionsSkippedOverlap,
      (skipped) => skipped === 1,
    );
    finish();
    expect((await ended(taskId)).status).to.equal("Successful");
    await right(checks().deleteSchedule(id));
    expect(await checks().deleteSchedule(id)()).to.deep.include({
      left: { _tag: "NotFound", resource: "schedule", id },
    });
    await eventually(
      () => right(checks().listSchedules()),
      (all) => all.every((one) => one.id !== id),
    );
  });

  it("refuses a schedule that Temporal does not take", async () => {
    const plan = await planned(new FakeActivities());
    const schedule = { cron: "0 5-3 * * *", timeZone: "UTC" };
    const stored = { name: plan.name, bundleId: "b", resourceIds: ["a"], schedule };
    const refused = await checks().createSchedule(readinessId(randomUUID()), plan, stored)();
    expect(JSON.stringify(refused)).to.contain("CHECK_SCHEDULE_INVALID");
  });
});

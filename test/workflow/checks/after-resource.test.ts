import { expect } from "chai";
import { activityQuery, checkDecidedSignal } from "../../../workflows/messages";
import { answering, failing, later, passed } from "../../support/check-answers";
import { eventually } from "../../support/eventually";
import type { FakeActivities } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleCheck } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("Checks of the inventory after a resource", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const at = ["AFTER_RESOURCE"] as const;

  const untilWaits = (upgrade: RunningUpgrade) =>
    eventually(
      () => upgrade.upgrade(),
      ({ waitingFor }) => waitingFor?.code === "CHECK",
    );
  const stagesOf = async (upgrade: RunningUpgrade, n = 0) =>
    (await upgrade.subTask(n)).stages
      ?.filter(({ type }) => type.endsWith("_CHECK"))
      .map(({ name, status, description }) => [name, status, description]);
  const callsOf = ({ calls }: FakeActivities, resourceId = "") =>
    calls.filter((call) => call.startsWith("check ") || call === `restorePolicy ${resourceId}`);
  /** Two clusters, of which the second begins so many seconds later. */
  const oneAfterTheOther = async (seconds: number) => {
    const [first, second] = clusters(2);
    if (!first || !second) throw new Error("unreachable");
    return [first, { ...second, scheduledTimestamp: await bench().inTime(seconds * 1000) }];
  };
  const begins = ({ calls }: FakeActivities, resourceId: string) => calls.includes(`putPolicy ${resourceId}`);

  it("are asked when it is upgraded, say what they said, and the webhook learns of which resource", async () => {
    const { fake, asked } = answering([passed]);
    const checks = [sampleCheck("slo", { at }), sampleCheck("elsewhere", { at, domains: ["other"] })];
    const upgrade = await bench().upgrade({ checks }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const resourceId = upgrade.resourceId();
    expect(callsOf(fake, resourceId)).to.deep.equal([`restorePolicy ${resourceId}`, "check slo"]);
    expect(await stagesOf(upgrade)).to.deep.equal([["Check slo after the upgrade", "SUCCESSFUL", "None."]]);
    expect((await upgrade.task()).subTasks?.map(({ type }) => type)).to.deep.equal(["PRECHECKS", "HOSTOS_UPGRADE"]);
    const [input] = asked;
    expect([input?.at, input?.upgrade.id, input?.upgrade.resources]).to.deep.equal([
      "AFTER_RESOURCE",
      upgrade.id,
      [{ resourceId, name: `${resourceId}-name` }],
    ]);
  });

  it("WAIT: the next resource begins when they have passed", async () => {
    const { fake, asked } = answering([failing, later, passed]);
    const checks = [sampleCheck("board", { at, kind: "WEBHOOK", onFailure: "WAIT" })];
    const resources = await oneAfterTheOther(3);
    const upgrade = await bench().upgrade({ checks, resources }, fake);
    const due = Date.parse(resources[1]?.scheduledTimestamp ?? "");
    await eventually(
      () => upgrade.upgrade(),
      ({ waitingFor }) => waitingFor?.message === "Check board decides later: The board meets at 10.",
    );
    expect((await upgrade.subTask()).waitingFor?.code).to.equal("CHECK");
    expect(await stagesOf(upgrade)).to.deep.equal([
      ["Check board after the upgrade", "IN_PROGRESS", "The board meets at 10."],
    ]);
    await eventually(
      () => bench().now(),
      (now) => now > due + 1000,
    );
    expect(begins(fake, upgrade.resourceId(1)), "the second one is due").to.equal(false);
    await upgrade.handle.signal(checkDecidedSignal, { askId: asked[1]?.askId, passed: true, text: "Granted" });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await stagesOf(upgrade)).to.deep.equal([["Check board after the upgrade", "SUCCESSFUL", "Granted"]]);
    expect(await stagesOf(upgrade, 1)).to.deep.equal([["Check board after the upgrade", "SUCCESSFUL", "None."]]);
    expect((await upgrade.task()).lateSeconds, "waiting for a check is no delay").to.equal(undefined);
  });

  it("PAUSE: the upgrade pauses, and whoever resumes it accepts that", async () => {
    const { fake, asked } = answering([failing, passed]);
    const checks = [sampleCheck("slo", { at, onFailure: "PAUSE" })];
    const upgrade = await bench().upgrade({ checks, resources: await oneAfterTheOther(1) }, fake);
    await upgrade.untilStatuses("In Progress / PAUSED");
    expect((await upgrade.task()).errors?.map(({ message }) => message)).to.deep.equal([
      "Check slo did not pass: 3 alerts active.",
    ]);
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(asked.map(({ upgrade: { resources } }) => resources[0]?.resourceId)).to.deep.equal([
      upgrade.resourceId(0),
      upgrade.resourceId(1),
    ]);
    const { entries } = await upgrade.handle.query(activityQuery);
    expect(entries.map(({ kind }) => kind)).to.include.members(["CHECK_FAILED", "RESUME", "SUCCEEDED_WITH_WARNINGS"]);
    const task = await upgrade.task();
    expect(task.errors, "told once").to.have.length(1);
  });

  it("FAIL: what waits does not begin, and a retry asks again before it", async () => {
    const { fake, asked } = answering([failing, passed]);
    const checks = [sampleCheck("slo", { at })];
    const upgrade = await bench().upgrade({ checks, resources: await oneAfterTheOther(3600) }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(begins(fake, upgrade.resourceId(1))).to.equal(false);
    const errors = (await upgrade.task()).errors ?? [];
    expect(errors.map(({ context }) => context?.["resourceId"])).to.deep.equal(
      [0, 1].map((n) => upgrade.resourceId(n)),
    );
    expect(errors[1]?.message).to.contain("was not begun");
    const [error] = errors;
    expect(error?.errorCode).to.equal("CHECK_FAILED");
    expect(error?.message).to.contain("Check slo did not pass: 3 alerts active. Of 3 hosts 3 are at the target");
    expect((await upgrade.subTask()).status).to.equal("FAILED");
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    await eventually(
      () => Promise.resolve(asked.length),
      (asks) => asks === 2,
    );
    expect(asked[1]?.upgrade.resources[0]?.resourceId).to.equal(upgrade.resourceId(0));
    expect(fake.calls.filter((call) => call === `putPolicy ${upgrade.resourceId(0)}`)).to.have.length(1);
  });

  it("a cancellation ends the wait, and what was upgraded stays so", async () => {
    const checks = [sampleCheck("board", { at, kind: "WEBHOOK", onFailure: "WAIT" })];
    const upgrade = await bench().upgrade({ checks }, answering([later]).fake);
    await untilWaits(upgrade);
    await upgrade.handle.cancel();
    await upgrade.end();
    const { status } = await upgrade.subTask();
    expect(status).to.equal("SUCCESSFUL");
  });
});

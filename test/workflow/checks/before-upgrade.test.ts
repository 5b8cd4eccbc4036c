import { expect } from "chai";
import { askCheck } from "../../../activities/checks/ask-check";
import { activityQuery, checkDecidedSignal } from "../../../workflows/messages";
import { answering, failing, later } from "../../support/check-answers";
import { CheckServer, vector } from "../../support/check-server";
import { eventually } from "../../support/eventually";
import { FakeActivities } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleCheck } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("Checks of the inventory before an upgrade", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const untilWaits = (upgrade: RunningUpgrade, code = "CHECK") =>
    eventually(
      () => upgrade.upgrade(),
      ({ waitingFor }) => waitingFor?.code === code,
    );
  const checksOf = async (upgrade: RunningUpgrade) =>
    (await upgrade.task()).subTasks?.find(({ type }) => type === "CHECKS") ?? expect.fail("The Task has no checks");
  const stagesOf = async (upgrade: RunningUpgrade) =>
    (await checksOf(upgrade)).stages?.map(({ name, status, description }) => [name, status, description]);
  const kinds = async (upgrade: RunningUpgrade) =>
    (await upgrade.handle.query(activityQuery)).entries.map(({ kind }) => kind);
  const decide = (upgrade: RunningUpgrade, decision: unknown) => upgrade.handle.signal(checkDecidedSignal, decision);

  it("keep many clusters waiting, and let go of them when the upgrade is cancelled", async () => {
    const checks = [sampleCheck("board", { kind: "WEBHOOK", onFailure: "WAIT" })];
    const upgrade = await bench().upgrade({ checks, resources: clusters(64) }, answering([later], {}, 1).fake);
    await untilWaits(upgrade);
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
  });

  it("are asked in their order after the prechecks and before anything changes, and say on the Task what they said", async () => {
    const fake = new FakeActivities();
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo"), sampleCheck("board")] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const [prechecks, ...calls] = fake.calls.filter((call) => /^(prechecks|check|putPolicy) /.test(call));
    expect(prechecks).to.equal(`prechecks ${upgrade.resourceId()}`);
    expect(calls).to.deep.equal(["check slo", "check board", `putPolicy ${upgrade.resourceId()}`]);
    expect((await upgrade.task()).subTasks?.map(({ type, status }) => [type, status])).to.deep.equal([
      ["PRECHECKS", "SUCCESSFUL"],
      ["CHECKS", "SUCCESSFUL"],
      ["HOSTOS_UPGRADE", "SUCCESSFUL"],
    ]);
    expect(await stagesOf(upgrade)).to.deep.equal([
      ["Check slo", "SUCCESSFUL", "All is well."],
      ["Check board", "SUCCESSFUL", "All is well."],
    ]);
  });

  it("FAIL: nothing begins, and a retry asks again", async () => {
    const { fake, asked } = answering([failing, { verdict: "PASSED", text: "None." }]);
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo"), sampleCheck("other")] }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    const task = await upgrade.task();
    expect(task.errors?.map(({ errorCode, message }) => [errorCode, message])).to.deep.equal([
      ["CHECK_FAILED", "Check slo did not pass: 3 alerts active."],
    ]);
    expect(await stagesOf(upgrade)).to.deep.equal([
      ["Check slo", "FAILED", "3 alerts active."],
      ["Check other", "PENDING", "Not asked yet."],
    ]);
    expect(fake.changes).to.deep.equal([]);
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(asked.map(({ check }) => check)).to.deep.equal(["slo", "slo", "other"]);
    expect(new Set(asked.map(({ askId }) => askId)).size, "each ask has its own id").to.equal(3);
  });

  it("WAIT: the upgrade waits, says for what, and goes on by itself", async () => {
    const server = new CheckServer();
    await server.start();
    try {
      server.replies = [vector(["a", "0"])];
      const definition = {
        ...({ id: "slo", kind: "PROMETHEUS", url: server.url, timeoutSeconds: 5, emptyPasses: false } as const),
        ...({ query: "up", condition: { operator: "GE", value: 1 } } as const),
      };
      const fake = new FakeActivities({ askCheck: (input) => askCheck(() => definition, input) });
      const check = sampleCheck("slo", { onFailure: "WAIT" });
      const upgrade = await bench().upgrade({ checks: [check] }, fake);
      const { waitingFor } = await untilWaits(upgrade);
      const text = '1 of 1 sample not >= 1: up{instance="a"} is 0.';
      expect([waitingFor?.code, waitingFor?.message]).to.deep.equal(["CHECK", `Check slo did not pass: ${text}`]);
      expect((await upgrade.task()).waitingFor?.code).to.equal("CHECK");
      expect(await stagesOf(upgrade)).to.deep.equal([["Check slo", "IN_PROGRESS", text]]);
      await eventually(
        () => Promise.resolve(server.requests.length),
        (requests) => requests >= 3,
      );
      expect(fake.changes).to.deep.equal([]);
      const scheduled = (await upgrade.events()).filter((event) => event.activityTaskScheduledEventAttributes);
      const asks = scheduled.filter((e) => e.activityTaskScheduledEventAttributes?.activityType?.name === "askCheck");
      expect(asks, "asks again without another event").to.have.length(2);
      server.replies = [vector(["a", "1"])];
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(await kinds(upgrade)).to.deep.equal([
        ...["CREATE", "CHECK_AWAITED", "CHECK_ENDED", "STARTED", "RESOURCE_SUCCEEDED", "SUCCEEDED"],
      ]);
      const history = JSON.stringify(await upgrade.events());
      expect(history).not.to.contain("secret-path");
    } finally {
      await server.stop();
    }
  });

  it("PAUSE: whoever resumes the upgrade accepts that the check has not passed, which it ends with", async () => {
    const { fake, asked } = answering([{ verdict: "UNANSWERED", text: "It answered 500." }]);
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo", { onFailure: "PAUSE" })] }, fake);
    await upgrade.untilStatuses("In Progress / PAUSED");
    const message = "Check slo gave no verdict: It answered 500.";
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["CHECK_UNANSWERED"]);
    expect(fake.changes).to.deep.equal([]);
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const task = await upgrade.task();
    expect(task.status).to.equal("COMPLETED_WITH_WARNING");
    expect(task.errors?.map((error) => error.message)).to.deep.equal([message]);
    expect(asked).to.have.length(1);
    expect(await kinds(upgrade)).to.deep.equal([
      ...["CREATE", "CHECK_FAILED", "RESUME", "STARTED", "RESOURCE_SUCCEEDED", "SUCCEEDED_WITH_WARNINGS"],
    ]);
  });

  it("a webhook decides later by a Signal that names the ask; others change nothing", async () => {
    const { fake, asked } = answering([later]);
    const upgrade = await bench().upgrade({ checks: [sampleCheck("board", { kind: "WEBHOOK" })] }, fake);
    const { waitingFor } = await untilWaits(upgrade);
    expect(waitingFor?.message).to.equal("Check board decides later: The board meets at 10.");
    const [{ askId } = expect.fail("was not asked")] = asked;
    for (const wrong of [undefined, {}, { askId: "other", passed: true }, { askId, passed: "true" }])
      await decide(upgrade, wrong);
    await decide(upgrade, { askId, passed: false, text: "No change\u202eticket" });
    await decide(upgrade, { askId, passed: true, text: "Too late" });
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await upgrade.task()).errors?.[0]?.message).to.equal("Check board did not pass: No change ticket");
    expect(fake.changes).to.deep.equal([]);
  });

  it("a decision that is there before the answer counts", async () => {
    const started: RunningUpgrade[] = [];
    const fake = new FakeActivities({
      askCheck: async ({ askId }) => {
        const [upgrade] = await eventually(
          () => Promise.resolve(started),
          (known) => known.length > 0,
        );
        if (upgrade) await decide(upgrade, { askId, passed: true, text: "Granted" });
        return later;
      },
    });
    const upgrade = await bench().upgrade({ checks: [sampleCheck("board", { kind: "WEBHOOK" })] }, fake);
    started.push(upgrade);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await stagesOf(upgrade)).to.deep.equal([["Check board", "SUCCESSFUL", "Granted"]]);
  });

  it("a check that is waited for ends with the upgrade, and is asked again where the scope has changed", async () => {
    const check = sampleCheck("board", { kind: "WEBHOOK", onFailure: "WAIT" });
    const cancelled = await bench().upgrade({ checks: [check] }, answering([later]).fake);
    await untilWaits(cancelled);
    await cancelled.handle.cancel();
    expect(await cancelled.end()).to.equal("CANCELLED");
    expect((await checksOf(cancelled)).status).to.equal("FAILED");

    const { fake, asked } = answering([later]);
    const skipped = await bench().upgrade({ checks: [check], resources: clusters(2) }, fake);
    await untilWaits(skipped);
    const [gone, left] = [skipped.resourceId(0), skipped.resourceId(1)];
    expect((await skipped.ask("skip", { resourceId: gone, reason: "Not tonight" })).accepted).to.equal(true);
    await eventually(
      () => Promise.resolve(asked.length),
      (asks) => asks === 2,
    );
    const about = asked.map(({ upgrade }) => upgrade.resources.map(({ resourceId }) => resourceId));
    expect(about[0]).to.have.members([gone, left]);
    expect(about[1]).to.deep.equal([left]);
    await decide(skipped, { askId: asked[0]?.askId, passed: true });
    expect(fake.changes, "the first ask is about more than what is left").to.deep.equal([]);
    await decide(skipped, { askId: asked[1]?.askId, passed: true });
    expect(await skipped.end()).to.equal("SUCCESSFUL_WITH_WARNING");
  });

  it("are asked in the maintenance window, not before it, and again where it has closed meanwhile", async () => {
    const domain = "checked-window";
    bench().closedDomains.add(domain);
    const { fake, asked } = answering([later]);
    const check = sampleCheck("board", { kind: "WEBHOOK", onFailure: "WAIT" });
    const upgrade = await bench().upgrade({ checks: [check], domain }, fake);
    await untilWaits(upgrade, "WINDOW");
    expect(asked).to.deep.equal([]);
    bench().closedDomains.delete(domain);
    await untilWaits(upgrade, "CHECK");
    bench().closedDomains.add(domain);
    await decide(upgrade, { askId: asked[0]?.askId, passed: true });
    await untilWaits(upgrade, "WINDOW");
    expect(fake.changes).to.deep.equal([]);
    bench().closedDomains.delete(domain);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("a webhook that does not decide in time gives no verdict", async () => {
    const checks = [sampleCheck("board", { kind: "WEBHOOK", decideMinutes: 0.01 })];
    const upgrade = await bench().upgrade({ checks }, answering([later]).fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await upgrade.task()).errors?.[0]?.message).to.equal(
      "Check board gave no verdict: It did not decide within 0.01 minutes.",
    );
  });
});

import { expect } from "chai";
import type { CheckInput } from "../../../activities/contract";
import type { CheckAnswer } from "../../../src/domain/checks/own-check";
import type { ClusterKind } from "../../../src/domain/plan/upgrade-plan";
import { checkDecidedSignal } from "../../../workflows/messages";
import { answering, failing, later, passed } from "../../support/check-answers";
import { eventually } from "../../support/eventually";
import {
  allUpgraded,
  type FakeActivities,
  Gate,
  type ReplacedActivities,
  upgraded,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, sampleCheck } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const both = ["BEFORE_HOST", "AFTER_HOST"] as const;
const before = ["BEFORE_HOST"] as const;
const after = ["AFTER_HOST"] as const;

describe("Checks of the inventory before and after hosts", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const untilAsked = (asked: readonly CheckInput[], times: number) =>
    eventually(
      () => Promise.resolve(asked.length),
      (asks) => asks === times,
    );
  const hostsOf = (asked: readonly CheckInput[]) =>
    asked.map(({ at, upgrade }) => `${at} ${upgrade.resources[0]?.hosts?.map(({ hostId }) => hostId).join(",")}`);
  /** What was done with hosts, and what was asked between. */
  const courseOf = ({ calls }: FakeActivities, resourceId: string) =>
    calls
      .filter((call) => /^(check|remediate|remediateHosts|gate|restorePolicy) /.test(call))
      .map((call) => call.replace(`${resourceId}/`, "").replace(` ${resourceId}`, ""));
  const stagesOf = async (upgrade: RunningUpgrade) =>
    (await upgrade.subTask()).stages
      ?.filter(({ type }) => type.endsWith("_CHECK"))
      .map(({ name, status, description }) => [name, status, description]);
  const decide = (upgrade: RunningUpgrade, input: CheckInput | undefined, isPassed = true) =>
    upgrade.handle.signal(checkDecidedSignal, { askId: input?.askId, passed: isPassed });

  for (const kind of ["IMAGE", "BASELINE"] as const satisfies readonly ClusterKind[])
    it(`of a cluster managed by ${kind} are asked around each host, told which it is, and say what they said last`, async () => {
      const { fake, asked } = answering([failing, passed], {}, 2);
      const checks = [sampleCheck("slo", { at: both, onFailure: "WAIT" })];
      const upgrade = await bench().upgrade({ checks, kinds: [kind] }, fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(courseOf(fake, upgrade.resourceId()).filter((call) => call !== "restorePolicy")).to.deep.equal([
        ...["check slo", "check slo", "remediate host-1", "check slo"],
        ...["check slo", "remediate host-2", "check slo"],
      ]);
      expect(hostsOf(asked)).to.deep.equal([
        ...["BEFORE_HOST host-1", "BEFORE_HOST host-1", "AFTER_HOST host-1"],
        ...["BEFORE_HOST host-2", "AFTER_HOST host-2"],
      ]);
      expect(await stagesOf(upgrade)).to.deep.equal([
        ["Check slo before hosts", "SUCCESSFUL", "None."],
        ["Check slo after hosts", "SUCCESSFUL", "None."],
      ]);
    });

  it("FAIL while the upgrade is paused: what has become due meanwhile does not begin, and it fails", async () => {
    const gate = new Gate();
    const remediateHost: ReplacedActivities["remediateHost"] = (input) => gate.pass().then(() => upgraded(input));
    const { fake } = answering([failing], { remediateHost }, 1);
    const checks = [sampleCheck("slo", { at: after })];
    const [first, second] = clusters(2);
    if (!first || !second) throw new Error("unreachable");
    const scheduledTimestamp = await bench().inTime(2500);
    const resources = [first, { ...second, scheduledTimestamp }];
    const upgrade = await bench().upgrade({ checks, resources }, fake);
    await gate.reached;
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await eventually(
      () => bench().now(),
      (now) => now > Date.parse(scheduledTimestamp) + 500,
    );
    gate.open();
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(fake.calls).not.to.include(`putPolicy ${upgrade.resourceId(1)}`);
    const { errors = [] } = await upgrade.task();
    expect(errors.map(({ context }) => context?.["resourceId"])).to.include(upgrade.resourceId(1));
  });

  it("that are waited for at each host write neither the hosts of the cluster nor the Task each time", async () => {
    const memosOf = async (answers: readonly CheckAnswer[]) => {
      const { fake, asked } = answering(answers, {}, 4);
      const checks = [sampleCheck("board", { at: before, kind: "WEBHOOK" })];
      const upgrade = await bench().upgrade({ checks }, fake);
      for (let n = 1; n <= 4 && answers.includes(later); n++) {
        await untilAsked(asked, n);
        await decide(upgrade, asked[n - 1]);
      }
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      const memos = async (part?: number) =>
        (await upgrade.events(part)).flatMap(
          ({ workflowPropertiesModifiedEventAttributes: changed }) => changed?.upsertedMemo?.fields ?? [],
        );
      const ofTask = (await memos()).filter((fields) => "task" in fields);
      return { ofCluster: (await memos(0)).length, ofTask: ofTask.length };
    };
    expect(await memosOf([later])).to.deep.equal(await memosOf([passed]));
  });

  it("are asked once for hosts that are in work at once", async () => {
    for (const kind of ["IMAGE", "BASELINE"] as const) {
      const { fake, asked } = answering([passed], {}, 3);
      const options = { checks: [sampleCheck("slo", { at: both })], rollout: { hostsAtOnce: 2 }, kinds: [kind] };
      expect(await (await bench().upgrade(options, fake)).end()).to.equal("SUCCESSFUL");
      expect(hostsOf(asked), kind).to.deep.equal([
        ...["BEFORE_HOST host-1,host-2", "AFTER_HOST host-1,host-2"],
        ...["BEFORE_HOST host-3", "AFTER_HOST host-3"],
      ]);
    }
  });

  it("come before the health gate, which is asked when they have passed", async () => {
    const { fake } = answering([passed], { lookAtHealth: () => Promise.resolve({ healthy: false }) }, 1);
    const options = { checks: [sampleCheck("slo", { at: before })], rollout: { healthGate: true } };
    const upgrade = await bench().upgrade(options, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const course = courseOf(fake, upgrade.resourceId());
    expect(course.slice(0, 3)).to.deep.equal(["check slo", "gate", "remediate host-1"]);
  });

  it("WAIT: a webhook decides later by a Signal to the upgrade, for each host anew", async () => {
    const { fake, asked } = answering([later], {}, 2);
    const checks = [sampleCheck("board", { at: before, kind: "WEBHOOK", onFailure: "WAIT" })];
    const upgrade = await bench().upgrade({ checks }, fake);
    for (const [i, host] of ["host-1", "host-2"].entries()) {
      await untilAsked(asked, i + 1);
      const { waitingFor } = await eventually(
        () => upgrade.upgrade(),
        (known) => known.waitingFor?.code === "CHECK",
      );
      expect(waitingFor?.message).to.equal("Check board decides later: The board meets at 10.");
      expect((await upgrade.subTask()).waitingFor?.code).to.equal("CHECK");
      expect(fake.remediations.map((one) => one.host.host)).not.to.include(host);
      await decide(upgrade, asked[i]);
      await eventually(
        () => Promise.resolve(fake.remediations),
        (begun) => begun.some((one) => one.host.host === host),
      );
    }
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("WAIT: an operator leaves the host out that waits, and the next one is asked about", async () => {
    const { fake, asked } = answering([later], {}, 2);
    const checks = [sampleCheck("board", { at: before, kind: "WEBHOOK", onFailure: "WAIT" })];
    const upgrade = await bench().upgrade({ checks }, fake);
    await untilAsked(asked, 1);
    const skip = { resourceId: upgrade.resourceId(), hostId: "host-1", reason: "Refused" };
    expect((await upgrade.ask("skip", skip)).accepted).to.equal(true);
    await untilAsked(asked, 2);
    await decide(upgrade, asked[1]);
    await upgrade.end();
    expect(hostsOf(asked)).to.deep.equal(["BEFORE_HOST host-1", "BEFORE_HOST host-2"]);
    expect(fake.remediations.map(({ host }) => host.host)).to.deep.equal(["host-2"]);
  });

  it("PAUSE: no host begins before the upgrade is resumed, which accepts it for these hosts alone", async () => {
    const { fake, asked } = answering([failing, failing, passed], {}, 3);
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo", { at: before, onFailure: "PAUSE" })] }, fake);
    for (const begun of [0, 1]) {
      await untilAsked(asked, begun + 1);
      await upgrade.untilStatuses("In Progress / PAUSED");
      expect(fake.remediations).to.have.length(begun);
      expect((await upgrade.task()).errors?.at(-1)?.message).to.equal("Check slo did not pass: 3 alerts active.");
      expect((await upgrade.ask("resume")).accepted).to.equal(true);
    }
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(asked).to.have.length(3);
  });

  it("FAIL after a host: no other one begins, settings are restored, and a retry asks again first", async () => {
    const { fake, asked } = answering([failing, passed], {}, 2);
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo", { at: after })] }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    const resourceId = upgrade.resourceId();
    expect(courseOf(fake, resourceId)).to.deep.equal(["remediate host-1", "check slo", "restorePolicy"]);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE"]);
    expect((await upgrade.task()).errors?.[0]?.message).to.contain("Check slo did not pass: 3 alerts active.");
    const before = fake.calls.length;
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const again = courseOf(fake, resourceId).slice(3);
    expect(fake.calls.slice(before).filter((call) => /^(check|putPolicy) /.test(call))[0]).to.equal("check slo");
    expect(again).to.deep.equal(["check slo", "remediate host-2", "check slo", "restorePolicy"]);
    expect(hostsOf(asked)).to.deep.equal(["AFTER_HOST host-1", "AFTER_HOST host-1", "AFTER_HOST host-2"]);
  });

  it("FAIL before a host: nothing of it begins, nor another cluster that waits for its time", async () => {
    const { fake } = answering([passed, failing], {}, 2);
    const [first, second] = clusters(2);
    if (!first || !second) throw new Error("unreachable");
    const resources = [first, { ...second, scheduledTimestamp: await bench().inTime(3_600_000) }];
    const upgrade = await bench().upgrade({ checks: [sampleCheck("slo", { at: before })], resources }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(fake.remediations.map(({ host }) => host.host)).to.deep.equal(["host-1"]);
    expect(await stagesOf(upgrade)).to.deep.equal([["Check slo before hosts", "FAILED", "3 alerts active."]]);
    const other = (await upgrade.task()).subTasks?.at(-1)?.subTasks?.[1];
    expect([other?.status, other?.reasonCode]).to.deep.equal(["NOT_APPLICABLE", "NOT_STARTED"]);
  });

  it("after hosts of which one has failed within tolerance are asked all the same", async () => {
    const remediateHosts: ReplacedActivities["remediateHosts"] = (input) => {
      const [host, ...others] = input.hosts;
      const error = { errorCode: "HOST_REMEDIATION_FAILED", errorType: "UPGRADE", message: "It failed." } as const;
      if (!host || host.host !== "host-1") return Promise.resolve(allUpgraded(input));
      return Promise.resolve({
        ...allUpgraded({ ...input, hosts: others }),
        failed: [{ host: host.host, error, stages: [] }],
      });
    };
    const { fake, asked } = answering([passed], { remediateHosts }, 2);
    const options = { checks: [sampleCheck("slo", { at: after })], rollout: { toleratedFailures: 1 } };
    const upgrade = await bench().upgrade(options, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(hostsOf(asked)).to.deep.equal(["AFTER_HOST host-1", "AFTER_HOST host-2"]);
  });
});

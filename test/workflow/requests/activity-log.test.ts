import { expect } from "chai";
import { isLeft, isRight } from "fp-ts/Either";
import { right, type TaskEither } from "fp-ts/TaskEither";
import pino from "pino";
import type { ActivityEntry } from "../../../src/domain/activity/upgrade-activity";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { cancelUpgrade, sendUpgradeRequest, updateUpgrade } from "../../../src/upgrades/control-upgrade";
import type { UpgradeRequest } from "../../../src/upgrades/ports";
import { activityQuery } from "../../../workflows/messages";
import { eventually } from "../../support/eventually";
import { FakeActivities, failedCheck, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

/** One line for each entry, without times: kind, outcome, who by which way, code, what it concerns. */
function linesOf(entries: readonly ActivityEntry[]): string[] {
  return entries.map(({ kind, outcome, actor, via, errorCode, resourceName, hostName, repeated }) =>
    [kind, outcome, actor, via, errorCode, resourceName, hostName, repeated && `+${repeated}`]
      .filter(Boolean)
      .join(" "),
  );
}

describe("The activity log of an upgrade", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const noFreezes = { read: () => right([]) };
  let ids = 0;
  const identities = { newId: () => `asked-${++ids}`, now: () => Date.now() };
  const executionsOf = (timeouts?: Parameters<typeof temporalUpgradeExecutions>[3]) =>
    temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" }), () => undefined, timeouts);

  /** What the API asks for its callers. */
  function api() {
    const executions = executionsOf();
    const outcome = async (work: TaskEither<unknown, unknown>) => (isRight(await work()) ? "ACCEPTED" : "REFUSED");
    return {
      executions,
      ask: (
        { id }: RunningUpgrade,
        name: Exclude<UpgradeRequest["name"], "commit" | "approve" | "reject" | "acknowledge" | "skip">,
        caller: string,
      ) => outcome(sendUpgradeRequest({ executions, identities })(id, { name }, caller)),
      commit: ({ id }: RunningUpgrade, times: object, caller: string) =>
        outcome(
          updateUpgrade({ executions, freezes: noFreezes, holds: noFreezes, identities, lockLeadMinutes: 60 })(
            id,
            times,
            caller,
          ),
        ),
      cancel: ({ id }: RunningUpgrade, caller: string) =>
        outcome(cancelUpgrade({ executions, identities })(id, caller)),
    };
  }

  async function read(executions: ReturnType<typeof executionsOf>, id: string) {
    const answer = await executions.readActivity(id)();
    if (isLeft(answer)) throw new Error(JSON.stringify(answer.left));
    return answer.right;
  }

  /** What the log of the upgrade tells when it has an entry of this kind. */
  const until = (upgrade: RunningUpgrade, kind: ActivityEntry["kind"]) =>
    eventually(
      () => upgrade.handle.query(activityQuery),
      ({ entries }) => entries.some((entry) => entry.kind === kind),
    );

  it("tells a whole story: who asked what by which way, what was refused and why, failures and the end", async () => {
    const gate = new Gate();
    let failures = 0;
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.host.host === "host-1" && failures === 0) await gate.pass();
        if (input.host.host === "host-2") {
          failures += 1;
          if (failures === 1) throw hostFailure(input, input.attempts.maximumAttempts);
          await new Gate().pass();
        }
        return upgraded(input);
      },
    });
    const { executions, ask, commit, cancel } = api();
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await until(upgrade, "PRECHECKS_PASSED");
    const past = await bench().inTime(-3_600_000);
    expect(await commit(upgrade, { scheduledTimestamp: past }, "bob")).to.equal("REFUSED");
    const tonight = await bench().inTime(3_600_000);
    expect(await commit(upgrade, { scheduledTimestamp: tonight }, "ada")).to.equal("ACCEPTED");
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await ask(upgrade, "pause", "bob")).to.equal("REFUSED");
    expect(await commit(upgrade, { upgradeNow: true }, "ada")).to.equal("ACCEPTED");
    await gate.reached;
    expect(await ask(upgrade, "pause", "bob")).to.equal("ACCEPTED");
    gate.open();
    expect((await upgrade.ask("resume", { requestedBy: "the night shift" })).accepted).to.equal(true);
    await until(upgrade, "FAILED");
    expect(await ask(upgrade, "retry", "ada")).to.equal("ACCEPTED");
    await eventually(
      () => upgrade.hosts().catch(() => []),
      (hosts) => failures === 2 && hosts[1] === "IN_PROGRESS",
    );
    expect(await cancel(upgrade, "bob")).to.equal("ACCEPTED");
    expect(await cancel(upgrade, "bob")).to.equal("ACCEPTED");
    expect(await upgrade.end()).to.equal("CANCELLED");

    const answer = await read(executions, upgrade.id);
    if (answer._tag !== "Answered") throw new Error("No worker has answered");
    const { entries, dropped } = answer.record;
    const cluster = upgrade.plan.products[0]?.resources[0]?.name;
    expect(linesOf(entries)).to.deep.equal([
      "CREATE ACCEPTED a test HTTP",
      "PRECHECKS_PASSED",
      "COMMIT REFUSED bob HTTP SCHEDULE_IN_THE_PAST",
      "COMMIT ACCEPTED ada HTTP",
      "PAUSE REFUSED bob HTTP REQUEST_NOT_POSSIBLE",
      "RESCHEDULE ACCEPTED ada HTTP",
      "STARTED",
      "PAUSE ACCEPTED bob HTTP",
      "RESUME ACCEPTED the night shift SIGNAL",
      `HOST_FAILED HOST_REMEDIATION_FAILED ${cluster} esx-02.example.com`,
      `RESOURCE_FAILED HOST_REMEDIATION_FAILED ${cluster}`,
      "FAILED HOST_REMEDIATION_FAILED",
      "RETRY ACCEPTED ada HTTP",
      "STARTED",
      "CANCEL ACCEPTED bob HTTP",
      "CANCELLED",
    ]);
    expect(dropped).to.equal(0);
    expect(entries.map(({ sequence }) => sequence)).to.deep.equal(entries.map((_, i) => i + 1));
    expect(entries.map(({ details }) => details).filter(Boolean)).to.deep.equal([
      { draft: true },
      { precheckRun: 1 },
      { scheduledTimestamp: past },
      { scheduledTimestamp: tonight },
      { upgradeNow: true },
      { hosts: { total: 3, upgraded: 1, skipped: 0, failed: 1, left: 1 } },
    ]);
    expect(entries.find(({ outcome }) => outcome === "REFUSED")?.message).to.match(/past|passed|lies/);
    expect(entries.find(({ kind }) => kind === "HOST_FAILED")).to.include({
      resourceId: upgrade.resourceId(),
      hostId: "host-2",
      message: "Host esx-02.example.com failed",
    });
  });

  it("names nobody where the upgrade was cancelled by Temporal's own tools", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await until(upgrade, "PRECHECKS_PASSED");
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const { entries } = await upgrade.handle.query(activityQuery);
    expect(linesOf(entries).slice(-2)).to.deep.equal(["CANCEL ACCEPTED TEMPORAL", "CANCELLED"]);
  });

  it("names who has cancelled also where no worker ran then", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await until(upgrade, "PRECHECKS_PASSED");
    await bench().stopWorker();
    const quick = { call: 4000, query: 500, answers: 250, task: 300, list: 4000, outcome: 1000 };
    const unanswered = await executionsOf(quick).cancel(upgrade.id, "ada")();
    expect(isRight(unanswered) && unanswered.right._tag).to.equal("Unanswered");
    await bench().startWorker();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const { entries } = await upgrade.handle.query(activityQuery);
    expect(linesOf(entries).at(-2)).to.equal("CANCEL ACCEPTED ada HTTP");
  });

  it("tells that a commit, accepted while the prechecks ran, was refused when they had failed", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      runClusterPrechecks: async () => {
        await gate.pass();
        return { stages: failedCheck() };
      },
    });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await gate.reached;
    await upgrade.ask("commit", { requestedBy: "ada" });
    gate.open();
    const { entries } = await until(upgrade, "PRECHECKS_FAILED");
    expect(linesOf(entries)).to.deep.equal([
      "CREATE ACCEPTED a test HTTP",
      "COMMIT ACCEPTED ada SIGNAL",
      "PRECHECKS_FAILED PRECHECKS_FAILED",
      "COMMIT REFUSED ada SIGNAL PRECHECKS_FAILED",
    ]);
  });

  it("tells runs of the prechecks, and counts a wrong payload that is repeated", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await until(upgrade, "PRECHECKS_PASSED");
    await upgrade.handle.signal("pause", { requestedBy: 7 });
    await upgrade.handle.signal("pause", { requestedBy: 7 });
    await upgrade.ask("prechecks", { requestedBy: "ada" });
    const { entries } = await eventually(
      () => upgrade.handle.query(activityQuery),
      (record) => record.entries.at(-1)?.kind === "PRECHECKS_PASSED" && record.entries.length > 2,
    );
    expect(linesOf(entries).slice(2)).to.deep.equal([
      "PAUSE REFUSED SIGNAL SIGNAL_PAYLOAD_INVALID +1",
      "PRECHECKS ACCEPTED ada SIGNAL",
      "PRECHECKS_PASSED",
    ]);
    expect(entries.slice(3).map(({ details }) => details)).to.deep.equal([{ precheckRun: 2 }, { precheckRun: 2 }]);
  });

  it("tells that a failed upgrade was given up, of each cluster its end, and is read from a closed Workflow", async () => {
    const resources = clusters(2);
    const fake = new FakeActivities({
      remediateHost: (input) => {
        if (input.cluster.resourceId === resources[1]?.resourceId)
          throw hostFailure(input, input.attempts.maximumAttempts);
        return Promise.resolve(upgraded(input));
      },
    });
    const { executions, cancel } = api();
    const upgrade = await bench().upgrade({ resources }, fake);
    await until(upgrade, "FAILED");
    expect(await cancel(upgrade, "ada")).to.equal("ACCEPTED");
    expect(await upgrade.end()).to.equal("FAILED");
    const answer = await read(executions, upgrade.id);
    const entries = answer._tag === "Answered" ? answer.record.entries : [];
    const kinds = entries.map(({ kind }) => kind);
    expect(kinds).to.include.members(["RESOURCE_SUCCEEDED", "HOST_FAILED", "RESOURCE_FAILED"]);
    expect(linesOf(entries).slice(-3)).to.deep.equal([
      "FAILED HOST_REMEDIATION_FAILED",
      "RESOLVE ACCEPTED ada HTTP",
      "RESOLVED",
    ]);
    // Nothing can happen to it any more, so the answer needs no worker.
    await bench().stopWorker();
    expect(await read(executions, upgrade.id)).to.deep.equal(answer);
  });

  it("is read as last known while no worker runs, and not at all where nothing was known", async () => {
    const quick = { call: 4000, query: 500, answers: 250, task: 300, list: 4000, outcome: 1000 };
    const executions = executionsOf(quick);
    const upgrade = await bench().upgrade({ draft: true });
    await until(upgrade, "PRECHECKS_PASSED");
    const known = await read(executions, upgrade.id);
    await bench().stopWorker();
    await upgrade.handle.signal("pause", {});
    const { asOf, ...record } = { asOf: undefined, ...(await read(executions, upgrade.id)) };
    expect(record).to.deep.equal(known);
    expect(asOf).to.match(/^\d{4}-/);
    expect(await read(executionsOf(quick), upgrade.id)).to.deep.equal({ _tag: "Unanswered" });
    const unknown = await executions.readActivity("11111111-2222-4333-8444-555555555555")();
    expect(isLeft(unknown) && unknown.left._tag).to.equal("NotFound");
  });
});

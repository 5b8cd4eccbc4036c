import { expect } from "chai";
import type { ClusterTarget, PrecheckOptions } from "../../../activities/contract";
import { PageOfActivity } from "../../../src/domain/activity/upgrade-activity";
import type { Finding } from "../../../src/domain/spec/finding";
import { activityQuery } from "../../../workflows/messages";
import { eventually } from "../../support/eventually";
import { FakeActivities, foundCheck, Gate, sampleFinding } from "../../support/fake-activities";
import { dataOf, untilAllIsTold } from "../../support/notifier";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { UpgradeBench, useBench } from "../../support/upgrade-bench";

type Found = Partial<Finding>;

/** Clusters whose prechecks find what each run is told to, the last of them for good; and what the Activities were given. */
function findingActivities(...runs: readonly (readonly Found[])[]) {
  const given: (ClusterTarget & PrecheckOptions)[] = [];
  const fake = new FakeActivities(
    {
      runClusterPrechecks: (target) => {
        const found = runs[Math.min(given.length, runs.length - 1)] ?? [];
        given.push(target);
        return Promise.resolve({
          stages: foundCheck(found.map((one) => sampleFinding(target.cluster.resourceId, one))),
        });
      },
    },
    1,
  );
  return { fake, given };
}

const untilPhase = (upgrade: RunningUpgrade, phase: string) =>
  eventually(
    () => upgrade.upgrade(),
    (now) => now.phase === phase,
  );

const acknowledge = (upgrade: RunningUpgrade, more: object = {}) =>
  upgrade.ask("acknowledge", {
    code: "HOST_NOT_CONNECTED",
    resourceId: upgrade.resourceId(),
    reason: "In repair",
    requestedBy: "bob",
    ...more,
  });

const findingsOf = async (upgrade: RunningUpgrade) =>
  ((await upgrade.task()).subTasks ?? [])
    .filter(({ type }) => type === "PRECHECKS")
    .at(-1)
    ?.subTasks?.flatMap(({ stages = [] }) => stages.flatMap(({ findings = [] }) => findings)) ?? [];

const precheckStatuses = async (upgrade: RunningUpgrade) =>
  ((await upgrade.task()).subTasks ?? []).filter(({ type }) => type === "PRECHECKS").map(({ status }) => status);

describe("Acknowledging a finding of the prechecks", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  async function failedDraft(...runs: readonly (readonly Found[])[]) {
    const { fake, given } = findingActivities(...runs);
    const upgrade = await bench().upgrade({ draft: true, notifications: [{ id: "chat", retryHours: 1 }] }, fake);
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    return { upgrade, fake, given };
  }

  it("lets a draft be committed, and says who, when and why", async () => {
    const { upgrade, fake } = await failedDraft([{ hostId: "host-1" }]);
    expect((await upgrade.ask("commit")).reason?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(await upgrade.currentDetails()).to.contain("- `acknowledge`:");
    expect((await acknowledge(upgrade, { hostId: "host-1" })).accepted).to.equal(true);
    const ready = await untilPhase(upgrade, "DRAFT_READY");
    expect(ready.findings).to.deep.equal({ errors: 0, warnings: 0, infos: 0, acknowledged: 1 });
    const [finding] = await findingsOf(upgrade);
    expect(finding?.acknowledged).to.include({ by: "bob", reason: "In repair" });
    expect(finding?.acknowledged?.at).to.be.a("string");
    expect(await precheckStatuses(upgrade)).to.deep.equal(["SUCCESSFUL"]);
    const { entries } = await upgrade.handle.query(activityQuery);
    const { kind, actor, outcome, resourceId, hostId, details } = entries.at(-1) ?? {};
    expect([kind, actor, outcome, resourceId, hostId]).to.deep.equal([
      ...["ACKNOWLEDGE", "bob", "ACCEPTED"],
      ...[upgrade.resourceId(), "host-1"],
    ]);
    expect(details).to.deep.equal({ finding: "HOST_NOT_CONNECTED", reason: "In repair" });
    expect(PageOfActivity.is({ elements: entries })).to.equal(true);
    expect((await upgrade.memo()).upgrade.phase).to.equal("DRAFT_READY");
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await untilAllIsTold(bench(), upgrade);
    expect(dataOf(fake, "upgrade.draft.ready")).to.have.length(1);
  });

  it("names what was not found, and acknowledges nothing else", async () => {
    const { upgrade } = await failedDraft([{ hostId: "host-1" }, { hostId: "host-2", hostName: "esx-02" }]);
    for (const [asked, says] of [
      [{ resourceId: "other" }, "the resource other"],
      [{ code: "CLUSTER_BUSY" }, "no finding CLUSTER_BUSY"],
      [{}, "They are host-1, host-2."],
      [{ hostId: "host-3" }, "the host host-3"],
      [{ hostId: "host-1", subject: "fans" }, "is not about fans"],
    ] as const) {
      const { accepted, reason } = await acknowledge(upgrade, asked);
      expect([accepted, reason?.errorCode, reason?.errorType]).to.deep.equal([false, "FINDING_NOT_FOUND", "NOT_FOUND"]);
      expect(reason?.message).to.contain(says);
    }
    expect((await acknowledge(upgrade, { hostId: "esx-02" })).accepted, "by its name").to.equal(true);
    expect((await findingsOf(upgrade)).map(({ hostId, acknowledged }) => [hostId, acknowledged?.by])).to.deep.equal([
      ["host-1", undefined],
      ["host-2", "bob"],
    ]);
    expect((await upgrade.upgrade()).phase).to.equal("PRECHECKS_FAILED");
    const { reason } = await upgrade.ask("commit");
    expect(reason?.nestedErrors?.map(({ nestedErrors }) => nestedErrors?.map(({ message }) => message))).to.deep.equal([
      ["HOST_NOT_CONNECTED host-1"],
    ]);
  });

  it("refuses what no operator can wave through, a time that has passed, and a request that says too little", async () => {
    const { upgrade } = await failedDraft([{ code: "TARGET_IMAGE_INVALID", isAcknowledgeable: false }]);
    const refusal = async (more: object) => (await acknowledge(upgrade, more)).reason;
    const hard = await refusal({ code: "TARGET_IMAGE_INVALID" });
    expect([hard?.errorCode, hard?.errorType]).to.deep.equal(["FINDING_NOT_ACKNOWLEDGEABLE", "CONFLICT"]);
    expect(hard?.message).to.contain("The resource cannot be upgraded while it holds.");
    const past = await refusal({ until: "2020-01-01T00:00:00Z" });
    expect([past?.errorCode, past?.context?.["path"]]).to.deep.equal(["ACKNOWLEDGEMENT_IN_THE_PAST", "until"]);
    for (const missing of ["reason", "requestedBy", "code", "resourceId"])
      expect((await refusal({ [missing]: undefined }))?.errorCode, missing).to.equal("SIGNAL_PAYLOAD_INVALID");
    await upgrade.handle.cancel();
    await upgrade.end();
  });

  it("holds in later runs for this finding alone, and has checks run that need the one that found it", async () => {
    const busy = { code: "CLUSTER_BUSY", subject: "task-1" };
    const other = { code: "CLUSTER_BUSY", subject: "task-2" };
    const { upgrade, given } = await failedDraft([busy], [busy], [busy, other]);
    expect((await acknowledge(upgrade, { code: "CLUSTER_BUSY" })).accepted).to.equal(true);
    await untilPhase(upgrade, "DRAFT_READY");
    await upgrade.ask("prechecks");
    await untilPhase(upgrade, "DRAFT_READY");
    expect(await precheckStatuses(upgrade)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL"]);
    expect(given.map(({ acknowledged }) => acknowledged)).to.deep.equal([
      undefined,
      [{ code: "CLUSTER_BUSY", resourceId: upgrade.resourceId(), subject: "task-1" }],
    ]);
    await upgrade.ask("prechecks");
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    expect((await findingsOf(upgrade)).map(({ subject, acknowledged }) => [subject, acknowledged?.by])).to.deep.equal([
      ["task-1", "bob"],
      ["task-2", undefined],
    ]);
    const outdated = await acknowledge(upgrade, { code: "CLUSTER_BUSY", precheckId: `${upgrade.id}-prechecks-2` });
    expect(outdated.reason?.errorCode).to.equal("PRECHECKS_SUPERSEDED");
    const latest = `${upgrade.id}-prechecks-3`;
    const named = await acknowledge(upgrade, { code: "CLUSTER_BUSY", precheckId: latest, subject: "task-2" });
    expect(named.accepted).to.equal(true);
    await untilPhase(upgrade, "DRAFT_READY");
  });

  it("lets a failed upgrade be retried, also by another worker", async () => {
    const { fake } = findingActivities([{}]);
    const upgrade = await bench().upgrade({}, fake);
    await untilPhase(upgrade, "ACTION_REQUIRED");
    expect((await acknowledge(upgrade)).accepted).to.equal(true);
    await bench().stopWorker();
    await bench().startWorker();
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { findings } = (await upgrade.memo()).upgrade;
    expect(findings).to.include({ errors: 0, acknowledged: 1 });
    expect((await upgrade.memo()).task.status, "what is acknowledged is no warning").to.equal("Successful");
  });

  it("counts where it arrives while the prechecks of other resources run", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        runClusterPrechecks: async ({ cluster: { resourceId } }) => {
          if (resourceId !== upgrade.resourceId(0)) await gate.pass();
          return { stages: foundCheck(resourceId === upgrade.resourceId(0) ? [sampleFinding(resourceId)] : []) };
        },
      },
      1,
    );
    const upgrade: RunningUpgrade = await bench().upgrade({ draft: true, resources: clusters(2) }, fake);
    await gate.reached;
    await eventually(
      () => findingsOf(upgrade),
      (found) => found.length > 0,
    );
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect((await acknowledge(upgrade)).accepted).to.equal(true);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("is a word on an upgrade that goes on, not on one that has ended", async () => {
    const { fake } = findingActivities([{ severity: "WARNING" }]);
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.end();
    const { id } = upgrade;
    const late = bench().env.client.workflow.getHandle(id).signal("acknowledge", {});
    await late.then(
      () => expect.fail("It has closed"),
      (error: unknown) => expect(String(error)).to.contain("already completed"),
    );
  });
});

describe("An acknowledgement with an end", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");
  const hour = 3_600_000;

  it("counts until its time, then blocks again, and a later word prolongs it", async () => {
    const { fake } = findingActivities([{}]);
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    expect((await acknowledge(upgrade, { until: await bench().inTime(hour) })).accepted).to.equal(true);
    await untilPhase(upgrade, "DRAFT_READY");
    await bench().passTime(2 * hour);
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    expect((await upgrade.upgrade()).findings).to.include({ errors: 1, acknowledged: 0 });
    expect(await precheckStatuses(upgrade)).to.deep.equal(["FAILED"]);
    expect((await upgrade.ask("commit")).reason?.errorCode).to.equal("PRECHECKS_FAILED");
    expect((await acknowledge(upgrade, { until: await bench().inTime(hour) })).accepted).to.equal(true);
    await untilPhase(upgrade, "DRAFT_READY");
    expect(await findingsOf(upgrade)).to.have.length(1);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("is checked again before it begins where an acknowledgement has ended since the commit", async () => {
    const { fake } = findingActivities([{}]);
    const [resource] = clusters(1);
    if (!resource) throw new Error("A cluster is wanted");
    const resources = [{ ...resource, scheduledTimestamp: await bench().inTime(hour / 2) }];
    const upgrade = await bench().upgrade({ draft: true, resources }, fake);
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    await acknowledge(upgrade, { until: await bench().inTime(hour / 4) });
    await untilPhase(upgrade, "DRAFT_READY");
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    await bench().passTime(hour);
    await untilPhase(upgrade, "ACTION_REQUIRED");
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["PRECHECKS_FAILED"]);
    expect(await precheckStatuses(upgrade)).to.deep.equal(["FAILED", "FAILED"]);
    expect(fake.changes).to.deep.equal([]);
  });
});

describe("Warnings of the prechecks", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const warning = { severity: "WARNING", code: "HEALTH_CHECK_WARNING", subject: "clocks" } as const;

  it("do not block, and an upgrade that succeeds in spite of them ends with a warning that says so", async () => {
    const { fake } = findingActivities([warning, { severity: "INFO", code: "NETVIRT_CHECK_ACKNOWLEDGED" }]);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    const { task, upgrade: stored } = await upgrade.memo();
    expect([task.status, stored.phase]).to.deep.equal(["COMPLETED_WITH_WARNING", "SUCCEEDED_WITH_WARNINGS"]);
    expect(task.errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["PRECHECK_WARNINGS"]);
    expect(task.errors?.[0]?.message).to.contain("HEALTH_CHECK_WARNING clocks");
    expect(stored.findings).to.deep.equal({ errors: 0, warnings: 1, infos: 1, acknowledged: 0 });
  });

  it("that were acknowledged are none of the upgrade", async () => {
    const { fake } = findingActivities([warning]);
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await untilPhase(upgrade, "DRAFT_READY");
    expect((await acknowledge(upgrade, { code: warning.code })).accepted).to.equal(true);
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});

describe("Acknowledged findings of an upgrade whose history grows long", function () {
  this.timeout(60_000);
  let bench: UpgradeBench;
  before(async function () {
    this.timeout(120_000);
    bench = await UpgradeBench.start("DEV_SERVER", ["limit.historyCount.suggestContinueAsNew=60"]);
  });
  afterEach(() => bench.clean());
  after(() => bench.stop());

  it("stay acknowledged in its next run", async () => {
    const { fake } = findingActivities([{}]);
    const upgrade = await bench.upgrade({ draft: true }, fake);
    await untilPhase(upgrade, "PRECHECKS_FAILED");
    await acknowledge(upgrade);
    await untilPhase(upgrade, "DRAFT_READY");
    const firstRun = (await upgrade.handle.describe()).runId;
    const continued = async () => (await bench.env.client.workflow.getHandle(upgrade.id).describe()).runId !== firstRun;
    while (!(await continued())) {
      await upgrade.ask("prechecks");
      await untilPhase(upgrade, "DRAFT_READY");
    }
    expect((await findingsOf(upgrade)).map(({ acknowledged }) => acknowledged?.reason)).to.deep.equal(["In repair"]);
    await upgrade.ask("prechecks");
    await untilPhase(upgrade, "DRAFT_READY");
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});

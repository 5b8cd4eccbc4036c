import { expect } from "chai";
import pino from "pino";
import { emptyRecord } from "../../../src/domain/activity/activity-record";
import type { UpgradePhase } from "../../../src/domain/spec/upgrade";
import { initialTask } from "../../../src/domain/task/task-progress";
import { initialFacts } from "../../../src/domain/upgrade/upgrade-facts";
import { readHolder } from "../../../src/temporal/lock-holder";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { activityQuery, requestSignals, requestUpdates, taskQueue } from "../../../workflows/messages";
import type { CarriedUpgrade } from "../../../workflows/upgrade/continue-as-new";
import type { upgradeWorkflow } from "../../../workflows/upgrade/upgrade-workflow";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import { notifierOf, orderOf, toldTo } from "../../support/notifier";
import { rejectionOf } from "../../support/rejection-of";
import { RunningUpgrade } from "../../support/running-upgrade";
import { clusters, samplePlan } from "../../support/sample-plan";
import { UpgradeBench } from "../../support/upgrade-bench";

describe("An upgrade whose history grows long while nothing of it is in work", function () {
  this.timeout(60_000);
  let bench: UpgradeBench;
  before(async function () {
    this.timeout(120_000);
    bench = await UpgradeBench.start("DEV_SERVER", ["limit.historyCount.suggestContinueAsNew=60"]);
  });
  afterEach(async function () {
    if (this.currentTest?.state === "failed") process.stderr.write(`${await bench.explain()}\n`);
    await bench.clean();
  });
  after(() => bench.stop());

  const runsOf = async ({ id }: RunningUpgrade) => {
    const runs: string[] = [];
    for await (const { runId } of bench.env.client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.push(runId);
    return runs.length;
  };
  const lengthOf = async (upgrade: RunningUpgrade) => (await upgrade.handle.describe()).historyLength;
  const untilContinued = (upgrade: RunningUpgrade, runs: number) =>
    eventually(
      () => runsOf(upgrade),
      (known) => known >= runs,
    );
  const listed = async ({ id }: RunningUpgrade) => {
    const port = temporalUpgradeExecutions(bench.env.client, pino({ level: "silent" }));
    const page = await port.list({})();
    if (page._tag === "Left") throw new Error(JSON.stringify(page.left));
    return (page.right.elements ?? []).filter((one) => one.id === id).map(({ status }) => status);
  };

  it("keeps a draft through any number of prechecks, with all that is known of them", async () => {
    const upgrade = await bench.upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    for (let run = 2; run <= 12; run++) {
      const asked = await upgrade.ask("prechecks");
      expect([asked.accepted, asked.run]).to.deep.equal([true, run]);
      await upgrade.untilStatuses("Pending / DRAFT");
    }
    await untilContinued(upgrade, 2);
    expect(await lengthOf(upgrade)).to.be.below(100);
    const prechecks = (await upgrade.task()).subTasks?.filter(({ type }) => type === "PRECHECKS") ?? [];
    expect(prechecks.map(({ status }) => status)).to.deep.equal(Array.from({ length: 12 }, () => "SUCCESSFUL"));
    expect((await upgrade.outcomeOf("request-1")).accepted).to.equal(true);
    const { entries, dropped } = await upgrade.handle.query(activityQuery);
    expect(entries.map(({ sequence }) => sequence)).to.deep.equal(entries.map((_, i) => i + 1));
    expect(entries.filter(({ kind }) => kind === "PRECHECKS_PASSED")).to.have.length(12);
    expect([entries[0]?.kind, dropped]).to.deep.equal(["CREATE", 0]);
    expect((await upgrade.memo()).upgrade).to.include({ id: upgrade.id, status: "DRAFT" });
    expect(await listed(upgrade)).to.deep.equal(["DRAFT"]);
    const details = await upgrade.currentDetails();
    expect(details).to.contain("--name commit");
    const { name, bundle } = upgrade.plan;
    for (const shown of [name, `(${bundle.id})`, "Requested by `a test`"]) expect(details).to.contain(shown);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await listed(upgrade)).to.deep.equal(["COMPLETED_WITH_SUCCESS"]);
  });

  it("answers every Update of a loop, also those that arrive while it continues", async () => {
    const upgrade = await bench.upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses("Pending / DRAFT");
    // Ten at a time is what Temporal takes.
    while ((await runsOf(upgrade)) < 4) {
      const answers = await Promise.allSettled(Array.from({ length: 10 }, () => upgrade.update("pause")));
      for (const answer of answers)
        expect(answer.status === "rejected" && String((answer.reason as Error).cause)).to.contain("nothing to pause");
    }
    const updateId = "once";
    const ask = () => upgrade.handle.executeUpdate(requestUpdates.prechecks, { args: [undefined], updateId });
    const first = await ask();
    await upgrade.untilStatuses("Pending / DRAFT");
    const runs = await runsOf(upgrade);
    while ((await runsOf(upgrade)) === runs) await rejectionOf(upgrade.update("pause"));
    expect(await ask(), "a later run knows the answer").to.deep.equal(first);
    expect(await upgrade.update("commit")).to.include({ accepted: true });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("keeps a failed one through any number of retries, which go on where they were", async () => {
    let mended = false;
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (!mended && input.host.host === "host-2") throw hostFailure(input);
        return upgraded(input);
      },
    });
    const upgrade = await bench.upgrade({ notifications: [{ id: "chat", retryHours: 1 }] }, fake);
    const retries = 6;
    for (let retry = 0; retry <= retries; retry++) {
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      if (retry === retries) mended = true;
      expect((await upgrade.ask("retry")).accepted).to.equal(true);
    }
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await runsOf(upgrade)).to.be.greaterThan(1);
    expect(await listed(upgrade)).to.deep.equal(["COMPLETED_WITH_SUCCESS"]);
    await eventually(
      async () => toldTo(fake),
      (told) =>
        told.at(-1) === "upgrade.successful" && told.filter((type) => type === "upgrade.failed").length === retries + 1,
    );
  });

  it("tells receivers by one Workflow, which knows who is gone and what is not delivered", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: (input) => Promise.reject(hostFailure(input)),
      deliverNotification: async ({ receiver }) => {
        if (receiver === "slow") await gate.pass();
        return { outcome: receiver === "gone" ? "GONE" : "DELIVERED" };
      },
    });
    const receivers = ["slow", "gone", "chat"].map((id) => ({ id, retryHours: 1 }));
    const upgrade = await bench.upgrade({ notifications: receivers }, fake);
    for (;;) {
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      if ((await runsOf(upgrade)) > 2) break;
      await upgrade.ask("retry");
    }
    gate.open();
    expect((await upgrade.ask("resolve")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("FAILED");
    const { givenUp } = await notifierOf(bench, upgrade).result();
    expect(givenUp).to.equal(0);
    expect(orderOf(fake, "gone")).to.deep.equal([1]);
    const slow = orderOf(fake, "slow");
    expect(slow, "older ones before newer ones").to.deep.equal([...slow].sort((a, b) => a - b));
    expect([toldTo(fake, "slow"), toldTo(fake).at(-1)]).to.deep.equal([toldTo(fake), "upgrade.resolved"]);
    expect(new Set(orderOf(fake, "chat")), "each once").to.have.property("size", orderOf(fake, "chat").length);
    const { client } = bench.env;
    const workflows: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = 'notifyWorkflow'` }))
      if (workflowId.includes(upgrade.id)) workflows.push(workflowId);
    expect(new Set(workflows)).to.deep.equal(new Set([`notify/${upgrade.id}`]));
  });

  it("keeps one that waits for its time through any number of reschedules, and has its lock again", async () => {
    const inHours = (hours: number) => bench.inTime(hours * 3_600_000);
    const [resource] = clusters(1);
    if (!resource) throw new Error("no cluster");
    const resources = [{ ...resource, scheduledTimestamp: await inHours(1) }];
    const upgrade = await bench.upgrade({ resources, lockLeadMinutes: 100_000 });
    await upgrade.untilStatuses("Pending / SCHEDULED");
    const runs = 3;
    for (let i = 1; (await runsOf(upgrade)) < runs; i++)
      expect((await upgrade.ask("commit", { scheduledTimestamp: await inHours(i + 1) })).accepted).to.equal(true);
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await listed(upgrade)).to.deep.equal(["SCHEDULED"]);
    const fake = new FakeActivities({
      readLockHolder: async ({ workflowId }) => readHolder(bench.env.client, workflowId),
    });
    const other = await bench.upgrade({ resources: [resource] }, fake);
    await other.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await other.task()).errors?.[0]?.context?.["upgradeId"]).to.equal(upgrade.id);
    bench.serve(upgrade.plan, upgrade.fake);
    expect((await upgrade.ask("commit", { upgradeNow: true })).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(upgrade.fake.calls.filter((call) => call.startsWith("remediate "))).to.have.length(3);
  });

  it("keeps a running one through any number of pauses, and refuses them before they fill its history", async function () {
    this.timeout(180_000);
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) });
    const upgrade = await bench.upgrade({ resources: clusters(2) }, fake);
    await gate.reached;
    let pairs = 0;
    let refusal: unknown;
    while (refusal === undefined) {
      refusal = await upgrade.update("pause").then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refusal === undefined) await upgrade.update("resume");
      pairs++;
    }
    expect(String((refusal as Error).cause)).to.contain("history of the upgrade is full");
    expect(pairs).to.be.greaterThan(100);
    const full = await lengthOf(upgrade);
    expect(full, "events").to.be.lessThan(5_500);
    for (let i = 0; i < 20; i++) await rejectionOf(upgrade.update("pause"));
    expect(await lengthOf(upgrade), "what is refused writes nothing").to.equal(full);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  describe("takes what is asked for before the next run has begun", () => {
    /** A next run that is signalled before it begins, of an upgrade that an earlier one has left so. */
    async function nextRun(signal: typeof requestSignals.retry, phase: UpgradePhase, draft: boolean) {
      const plan = samplePlan({ draft, now: await bench.now() });
      const fake = new FakeActivities();
      bench.serve(plan, fake);
      const { creationTimestamp: phaseSince } = plan;
      const known = {
        task: { ...initialTask(plan), isRetryable: true },
        children: [],
        results: [],
        hosts: [],
        leftOut: [],
        missed: [],
        facts: initialFacts(plan),
      };
      const state = { ...known, phase, phaseSince, failedPrechecks: [], warnings: [], askedAt: 0 };
      const before: CarriedUpgrade = {
        state: { ...state, notifier: {}, notices: { sequence: 0, runs: 1 }, activity: emptyRecord },
        outcomes: [],
        ...(draft && { precheckedAt: await bench.now() }),
      };
      const handle = await bench.env.client.workflow.signalWithStart<typeof upgradeWorkflow, [payload?: unknown]>(
        "upgradeWorkflow",
        {
          workflowId: plan.id,
          taskQueue,
          args: [plan, before],
          signal,
          signalArgs: [{ requestId: "early" }],
        },
      );
      return new RunningUpgrade(bench.env.client, handle, plan, fake);
    }

    it("runs the prechecks of a draft, and nothing else", async () => {
      const upgrade = await nextRun(requestSignals.prechecks, "DRAFT_WAITING", true);
      expect((await upgrade.outcomeOf("early")).accepted).to.equal(true);
      await upgrade.untilStatuses("Pending / DRAFT");
      expect(upgrade.fake.calls.map((call) => call.split(" ")[0])).to.deep.equal(["prechecks"]);
      expect((await upgrade.ask("commit")).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });

    it("retries a failed one", async () => {
      const upgrade = await nextRun(requestSignals.retry, "FAILED", false);
      expect((await upgrade.outcomeOf("early")).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });
  });

  it("shows the next run as it was before, also while no worker runs", async () => {
    const upgrade = await bench.upgrade({ draft: true });
    await upgrade.untilStatuses("Pending / DRAFT");
    for (let run = 2; (await runsOf(upgrade)) === 1; run++) {
      await upgrade.ask("prechecks");
      await upgrade.untilStatuses("Pending / DRAFT");
    }
    const events = await upgrade.events();
    const fields = events[0]?.workflowExecutionStartedEventAttributes?.memo?.fields ?? {};
    const data = fields["upgrade"]?.data ?? new Uint8Array();
    expect(JSON.parse(Buffer.from(data).toString())).to.include({ id: upgrade.id, status: "DRAFT" });
  });

  it("is cancelled, resolved and told of as lost as ever", async () => {
    const failing = () => {
      const fake = new FakeActivities({
        remediateHost: async (input) => {
          throw hostFailure(input);
        },
      });
      return bench.upgrade({ notifications: [{ id: "chat", retryHours: 1 }] }, fake);
    };
    const grown = async (upgrade: RunningUpgrade) => {
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      // Each is refused: Temporal keeps it all the same.
      for (let i = 0; i < 20; i++) expect((await upgrade.ask("pause")).accepted).to.equal(false);
      await untilContinued(upgrade, 2);
      return upgrade;
    };
    const resolved = await grown(await failing());
    expect((await resolved.ask("resolve")).accepted).to.equal(true);
    expect(await resolved.end()).to.equal("FAILED");
    expect((await resolved.task()).errors?.[0]?.errorCode).to.equal("HOST_REMEDIATION_FAILED");

    const draft = await bench.upgrade({ draft: true });
    await draft.untilStatuses("Pending / DRAFT");
    for (let i = 0; i < 20; i++) expect((await draft.ask("pause")).accepted).to.equal(false);
    await untilContinued(draft, 2);
    await draft.handle.cancel();
    expect(await draft.end()).to.equal("CANCELLED");

    const lost = await grown(await failing());
    await lost.handle.terminate("a test of what is told");
    await eventually(
      async () => toldTo(lost.fake),
      (told) => told.at(-1) === "upgrade.lost",
    );
  });
});

import { randomUUID } from "node:crypto";
import { readHolder } from "../../../../src/temporal/lock-holder";
import { eventually } from "../../../support/eventually";
import {
  failedCheck,
  FakeActivities,
  foundCheck,
  Gate,
  passedCheck,
  sampleFinding,
  upgraded,
} from "../../../support/fake-activities";
import { untilQuiet } from "../../../support/quiet";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import { clusters } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { draftWaiting, hostCount, scheduled, type Story } from "../story";

const day = 86_400_000;

/** So that a history of some reschedules is a long one. */
const shortHistories = ["limit.historyCount.suggestContinueAsNew=50"];

/** Drafts and schedules: upgrades that wait for somebody, or for their time. */
export const draftStories: Readonly<Record<string, Story>> = {
  "draft-committed-while-its-prechecks-run": {
    ends: "COMPLETED",
    async tell(bench) {
      const { upgrade, gate } = await draftInPrechecks(bench);
      await upgrade.ask("commit");
      gate.open();
      await upgrade.end();
      return upgrade;
    },
  },

  "draft-committed-early-with-failed-prechecks": {
    ends: "OPEN",
    async tell(bench) {
      const { upgrade, gate } = await draftInPrechecks(bench, failedCheck());
      await upgrade.ask("commit");
      gate.open();
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.ask("commit", { upgradeNow: true });
      return upgrade;
    },
  },

  "begun-by-a-commit-after-its-time": {
    ends: "COMPLETED",
    async tell(bench) {
      await bench.stopWorker();
      const scheduledTimestamp = await bench.inTime(1000);
      const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
      const upgrade = await bench.upgrade({ resources, lateStartMinutes: 1 / 60 });
      await bench.passTime(3000);
      await bench.startWorker();
      await eventually(
        () => upgrade.task(),
        ({ waitingFor }) => waitingFor?.code === "COMMIT",
      );
      await upgrade.ask("commit");
      await upgrade.end();
      return upgrade;
    },
  },

  "draft-with-acknowledged-findings": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await draftWithFinding(bench);
      const resourceId = upgrade.resourceId();
      const asked = { code: "HOST_NOT_CONNECTED", resourceId, reason: "In repair", requestedBy: "bob" };
      await upgrade.ask("acknowledge", { ...asked, hostId: "host-1" });
      await upgrade.ask("acknowledge", { ...asked, until: await bench.inTime(day) });
      await upgrade.ask("acknowledge", asked);
      await upgrade.ask("prechecks");
      await upgrade.untilStatuses(draftWaiting);
      await upgrade.ask("commit");
      await upgrade.end();
      return upgrade;
    },
  },

  "waits-for-its-locks": {
    ends: "COMPLETED",
    async tell(bench) {
      const gate = new Gate();
      const [cluster] = clusters(1);
      if (!cluster) throw new Error("no cluster");
      const holder = await bench.upgrade({ resources: [cluster] }, askingForHolders(bench, gate));
      await gate.reached;
      const resources = [{ ...cluster, scheduledTimestamp: await bench.inTime(15_000) }];
      const upgrade = await bench.upgrade({ resources }, askingForHolders(bench, gate));
      await eventually(
        () => upgrade.upgrade(),
        ({ waitingFor }) => waitingFor?.code === "LOCK",
      );
      gate.open();
      await holder.end();
      await upgrade.end();
      return upgrade;
    },
  },

  "acknowledgement-that-ends-before-the-commit": {
    ends: "OPEN",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const upgrade = await draftWithFinding(bench);
      const asked = { code: "HOST_NOT_CONNECTED", reason: "In repair", requestedBy: "bob" };
      await upgrade.ask("acknowledge", { ...asked, resourceId: upgrade.resourceId(), until: await bench.inTime(day) });
      await bench.passTime(2 * day);
      await upgrade.ask("commit");
      return upgrade;
    },
  },

  "locked-and-moved-to-a-later-time": {
    ends: "OPEN",
    async tell(bench) {
      const resources = [];
      for (const cluster of clusters(2))
        resources.push({ ...cluster, scheduledTimestamp: await bench.inTime(600_000) });
      const upgrade = await bench.upgrade({ resources }, new FakeActivities({}, 1));
      await upgrade.child(1);
      await upgrade.ask("commit", { scheduledTimestamp: await bench.inTime(day) });
      await untilQuiet(upgrade);
      return upgrade;
    },
  },

  "approved-by-two-after-another-time": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await awaitingApproval(bench, 2);
      await upgrade.ask("approve", { requestedBy: "bob" });
      await upgrade.ask("commit", { upgradeNow: true, requestedBy: "alice" });
      for (const requestedBy of ["alice", "bob", "carol"]) await upgrade.ask("approve", { requestedBy });
      await upgrade.end();
      return upgrade;
    },
  },

  "open-while-it-waits-for-approvals": { ends: "OPEN", tell: (bench) => awaitingApproval(bench, 1) },

  "rejected-by-an-approver": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await awaitingApproval(bench, 1);
      await upgrade.ask("reject", { requestedBy: "bob", comment: "Not this week" });
      await upgrade.end();
      return upgrade;
    },
  },

  "draft-scheduled-and-rescheduled": {
    ends: "COMPLETED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const upgrade = await draft(bench);
      await upgrade.ask("commit", { scheduledTimestamp: await bench.inTime(day), requestedBy: "operator" });
      await upgrade.untilStatuses(scheduled);
      await upgrade.ask("commit", { scheduledTimestamp: await bench.inTime(2 * day) });
      await upgrade.end();
      return upgrade;
    },
  },

  "rescheduled-in-an-earlier-run": { ends: "CONTINUED_AS_NEW", settings: shortHistories, tell: rescheduledOften },

  "begun-in-a-later-run-than-it-was-scheduled": { ends: "COMPLETED", settings: shortHistories, tell: rescheduledOften },

  "clusters-with-times-of-their-own": {
    ends: "COMPLETED",
    server: "TIME_SKIPPING",
    async tell(bench) {
      const scheduledTimestamp = await bench.inTime(day);
      const [now, later] = clusters(2);
      const resources = [now!, { ...later!, scheduledTimestamp }];
      const upgrade = await bench.upgrade({ resources }, new FakeActivities({}, 1));
      await upgrade.end();
      return upgrade;
    },
  },

  "schedule-brought-forward": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await scheduledUpgrade(bench);
      await upgrade.ask("commit", { upgradeNow: true });
      await upgrade.end();
      return upgrade;
    },
  },

  "signals-nobody-can-read": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await draft(bench);
      for (const payload of [1, "now", [], { scheduledTimestamp: "tomorrow" }])
        await upgrade.handle.signal("commit", payload);
      await signalRaw(bench, upgrade, "commit", "json/plain", '{"upgradeNow": tru');
      await signalRaw(bench, upgrade, "commit", "application/unheard-of", "{}");
      await signalRaw(bench, upgrade, "hosts", "binary/encrypted", "x");
      await upgrade.handle.signal("hosts", { resourceId: upgrade.resourceId(), hosts: { total: "many" } });
      await upgrade.handle.signal("unheard-of", { now: true });
      await upgrade.ask("retry");
      await upgrade.ask("resolve", { requestedBy: 5 });
      await upgrade.ask("commit", { scheduledTimestamp: "2020-01-01T00:00:00Z" });
      await upgrade.ask("commit");
      await upgrade.end();
      return upgrade;
    },
  },

  "open-draft-in-prechecks": {
    ends: "OPEN",
    tell: async (bench) => (await draftInPrechecks(bench)).upgrade,
  },
  "open-draft": { ends: "OPEN", tell: draft },
  "open-schedule": { ends: "OPEN", tell: scheduledUpgrade },

  "request-sent-twice": {
    ends: "OPEN",
    async tell(bench) {
      const upgrade = await scheduledUpgrade(bench);
      const first = { requestId: "first", scheduledTimestamp: await bench.inTime(2 * day) };
      await upgrade.handle.signal("commit", first);
      await untilQuiet(upgrade);
      await upgrade.ask("commit", { scheduledTimestamp: await bench.inTime(3 * day) });
      await upgrade.handle.signal("commit", first);
      await untilQuiet(upgrade);
      return upgrade;
    },
  },
};

/** A draft that waits for its commit. */
async function draft(bench: UpgradeBench): Promise<RunningUpgrade> {
  const upgrade = await bench.upgrade({ draft: true }, new FakeActivities({}, hostCount));
  await upgrade.untilStatuses(draftWaiting);
  return upgrade;
}

async function draftInPrechecks(bench: UpgradeBench, stages = passedCheck()) {
  const gate = new Gate();
  const fake = new FakeActivities({ runClusterPrechecks: () => gate.pass().then(() => ({ stages })) }, 1);
  const upgrade = await bench.upgrade({ draft: true }, fake);
  await gate.reached;
  return { upgrade, gate };
}

/** An upgrade of two clusters that waits for its time. */
async function scheduledUpgrade(bench: UpgradeBench): Promise<RunningUpgrade> {
  const scheduledTimestamp = await bench.inTime(day);
  const resources = clusters(2).map((cluster) => ({ ...cluster, scheduledTimestamp }));
  const upgrade = await bench.upgrade({ resources, lockLeadMinutes: 2 * 24 * 60 }, new FakeActivities({}, 1));
  await upgrade.untilStatuses(scheduled);
  return upgrade;
}

/** One host each, which stay at the gate; who holds a lock is asked as the real Activity does. */
function askingForHolders(bench: UpgradeBench, gate: Gate): FakeActivities {
  return new FakeActivities(
    {
      remediateHost: async (input) => {
        await gate.pass();
        return upgraded(input);
      },
      readLockHolder: ({ workflowId }) => readHolder(bench.env.client, workflowId),
    },
    1,
  );
}

/** Given other times until another run has taken it on, and then begun. */
async function rescheduledOften(bench: UpgradeBench): Promise<RunningUpgrade> {
  const upgrade = await scheduledUpgrade(bench);
  const first = (await upgrade.handle.describe()).runId;
  const isContinued = async () => (await upgrade.handle.describe()).runId !== first;
  for (let days = 2; !(await isContinued()); days++)
    await upgrade.ask("commit", { scheduledTimestamp: await bench.inTime(days * day) });
  await upgrade.ask("commit", { upgradeNow: true });
  await upgrade.end();
  return upgrade;
}

/** Sends a Signal as any program can, past the client library's own encoding. */
async function signalRaw(
  bench: UpgradeBench,
  upgrade: RunningUpgrade,
  signalName: string,
  encoding: string,
  data: string,
): Promise<void> {
  const { client } = bench.env;
  await client.workflowService.signalWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: upgrade.id },
    signalName,
    input: { payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }] },
    requestId: randomUUID(),
  });
}

/** A draft of one cluster whose prechecks have ended with a finding. */
async function draftWithFinding(bench: UpgradeBench): Promise<RunningUpgrade> {
  const fake = new FakeActivities(
    {
      runClusterPrechecks: ({ cluster: { resourceId } }) =>
        Promise.resolve({ stages: foundCheck([sampleFinding(resourceId)]) }),
    },
    hostCount,
  );
  const upgrade = await bench.upgrade({ draft: true, resources: clusters(1) }, fake);
  await upgrade.untilStatuses(draftWaiting);
  return upgrade;
}

/** An upgrade of one cluster whose prechecks have passed and that waits for approvals. */
async function awaitingApproval(bench: UpgradeBench, approvals: number): Promise<RunningUpgrade> {
  const upgrade = await bench.upgrade({ approvals, resources: clusters(1) }, new FakeActivities({}, hostCount));
  await eventually(
    () => upgrade.upgrade(),
    ({ waitingFor }) => waitingFor?.code === "APPROVAL",
  );
  return upgrade;
}

import type { temporal } from "@temporalio/proto";
import type { WorkflowInfo } from "@temporalio/workflow";
import { expect } from "chai";
import type { HostsReport } from "../../workflows/messages";
import { eventually } from "../support/eventually";
import { activityFailure, FakeActivities, Gate, hostFailure, upgraded } from "../support/fake-activities";
import type { RunningUpgrade } from "../support/running-upgrade";
import { clusters } from "../support/sample-plan";
import { useBench } from "../support/upgrade-bench";
import { watchedLogs } from "../support/workflow-environment";

type Event = temporal.api.history.v1.IHistoryEvent;

/** What the clusters of an upgrade have told it of their hosts, in its order. */
async function reportsTo(upgrade: RunningUpgrade): Promise<HostsReport[]> {
  return ((await upgrade.handle.fetchHistory()).events ?? []).flatMap(
    ({ workflowExecutionSignaledEventAttributes }) => {
      const { signalName, input } = workflowExecutionSignaledEventAttributes ?? {};
      const data = input?.payloads?.[0]?.data;
      return signalName === "hosts" && data ? [JSON.parse(Buffer.from(data).toString("utf8")) as HostsReport] : [];
    },
  );
}

const scheduled = (events: readonly Event[]) =>
  events.flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name ?? []);

describe("An upgrade costs few Workflow tasks", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("where hosts take no time: it is told every five seconds at most, and short steps are no Activities", async () => {
    const resources = clusters(3);
    const upgrade = await bench().upgrade({ resources }, new FakeActivities({}, 2));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { startTime, closeTime } = await upgrade.handle.describe();
    const intervals = Math.floor(((closeTime?.getTime() ?? NaN) - startTime.getTime()) / 5_000);
    expect(await reportsTo(upgrade)).to.have.length.at.most(intervals * resources.length);
    expect(scheduled(await upgrade.events(0))).to.deep.equal(["setDesiredImage", "remediateHost", "remediateHost"]);
  });

  it("because clusters are locked in one, and told in one when their turn has come", async () => {
    const upgrade = await bench().upgrade({ resources: clusters(4) }, new FakeActivities({}, 1));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const events = (await upgrade.handle.fetchHistory()).events ?? [];
    const locking = events.map((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    const telling = events.map((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes);
    for (const commands of [locking, telling]) {
      const tasks = commands.flatMap((command) => (command ? [Number(command.workflowTaskCompletedEventId)] : []));
      expect(tasks).to.have.length(4);
      expect(new Set(tasks).size).to.equal(1);
    }
  });

  it("whose log lines carry no memo of all the hosts to the thread that writes them", async () => {
    const told: WorkflowInfo[] = [];
    const build = await watchedLogs((info) => void told.push(info));
    await bench().stopWorker();
    await bench().startWorker(build);
    const upgrade = await bench().upgrade({}, new FakeActivities({}, 3));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await bench().stopWorker();
    const memos = told.flatMap(({ workflowType, memo }) => (workflowType === "clusterUpgradeWorkflow" ? [memo] : []));
    // Two come before the cluster writes its memo, with the one that it was started with.
    const ofHosts = memos.slice(2);
    expect(ofHosts).to.have.length.at.least(2 * 3);
    for (const memo of ofHosts) expect(memo).to.have.all.keys("upgradeId", "published");
  });

  it("and is told of the first failed host at once, while the next is in work", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-1") throw hostFailure(input);
          await gate.pass();
          return upgraded(input);
        },
      },
      2,
    );
    const upgrade = await bench().upgrade({ rollout: { toleratedFailures: 1 } }, fake);
    await gate.reached;
    await eventually(
      () => reportsTo(upgrade),
      (reports) => reports.some(({ hosts }) => hosts.failed === 1),
    );
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
  });

  it("and is told by a cancelled cluster what has become of its hosts", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-1") return upgraded(input);
          if (input.stop) throw activityFailure("CANCELLED");
          await gate.pass();
          return upgraded(input);
        },
      },
      3,
    );
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await upgrade.end().catch(() => undefined);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect((await reportsTo(upgrade)).at(-1)?.hosts).to.include({ total: 3, upgraded: 1 });
  });
});

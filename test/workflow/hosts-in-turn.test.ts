import type { temporal } from "@temporalio/proto";
import { expect } from "chai";
import type { HostsInTurn, RemediateHostInput } from "../../activities/contract";
import type { SubTask } from "../../src/domain/task";
import { eventually } from "../support/eventually";
import { activityFailure, FakeActivities, Gate, hostFailure, hostProgress, upgraded } from "../support/fake-activities";
import { quickHeartbeats } from "../support/quick-heartbeats";
import type { RunningUpgrade } from "../support/running-upgrade";
import { clusters } from "../support/sample-plan";
import { useBench } from "../support/upgrade-bench";

type History = temporal.api.history.v1.IHistory;
type Hosts = readonly RemediateHostInput["host"][];

/** Upgraded, with the first `count` of the hosts that follow. */
function andFollowing(input: RemediateHostInput, count = Infinity): HostsInTurn {
  const followed = following(input).slice(0, count);
  return { ...upgraded(input), followed: followed.map((host) => upgraded({ ...input, host })) };
}

/** The same, and the host after those is in work. */
function andBegun(input: RemediateHostInput, count: number): HostsInTurn {
  const host = following(input)[count];
  if (!host) throw new Error(`only ${following(input).length} hosts follow`);
  return { ...andFollowing(input, count), begun: { ...hostProgress({ ...input, host }, 0), remoteTask: "task-7" } };
}

const following = ({ following: hosts = [] }: RemediateHostInput): Hosts => hosts;

/** How many hosts are done in each of the memos that a Workflow has written. */
function doneInMemos({ events }: History): number[] {
  return (events ?? []).flatMap(({ workflowPropertiesModifiedEventAttributes: modified }) => {
    const data = modified?.upsertedMemo?.fields?.["subTask"]?.data;
    if (!data) return [];
    const { subTasks = [] } = JSON.parse(Buffer.from(data).toString("utf8")) as SubTask;
    return [subTasks.filter(({ status }) => status === "SUCCESSFUL").length];
  });
}

describe("Hosts that one Activity upgrades in turn", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const ownHosts = ({ remediations }: FakeActivities) => remediations.map(({ host }) => host.host);

  it("are some at first, and twice as many whenever all of those were upgraded in moments", async () => {
    const fake = new FakeActivities({ remediateHost: async (input) => andFollowing(input) }, 64);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map((input) => following(input).length)).to.deep.equal([15, 30, 16]);
    expect(ownHosts(fake)).to.deep.equal(["host-1", "host-17", "host-48"]);
    const { subTask } = await upgrade.resourceMemo();
    expect(new Set(subTask.subTasks?.map(({ status }) => status))).to.deep.equal(new Set(["SUCCESSFUL"]));
    expect((await upgrade.upgrade()).status).to.equal("COMPLETED_WITH_SUCCESS");
  });

  it("are missing in the memo while moments pass, but not while one takes its time", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-17") return andBegun(input, 3);
          if (input.host.host === "host-21") await gate.pass({ ...hostProgress(input, 0), remoteTask: "task-7" });
          return andFollowing(input);
        },
      },
      64,
    );
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    const cluster = await upgrade.child();
    const inWork = doneInMemos(await cluster.fetchHistory());
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(inWork.filter((done) => done > 0)).to.deep.equal([20]);
    expect(doneInMemos(await cluster.fetchHistory()).slice(inWork.length)).to.deep.equal([64, 64]);
  });

  it("are in the memo within seconds where the one after them takes its time, though nobody has begun it yet", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-4") await gate.pass(hostProgress(input, 0));
          return andFollowing(input, 2);
        },
      },
      10,
    );
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    const cluster = await upgrade.child();
    await eventually(
      async () => doneInMemos(await cluster.fetchHistory()),
      (done) => done.includes(3),
    );
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("stay few where each takes its time", async () => {
    const fake = new FakeActivities({ remediateHost: async (input) => andFollowing(input, 0) }, 12);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map((input) => following(input).length)).to.deep.equal([
      ...[11, ...Array<number>(8).fill(3)],
      ...[2, 1, 0],
    ]);
  });

  it("pass the health gate only where the last look did not find the cluster healthy", async () => {
    const given: (string | undefined)[] = [];
    const fake = new FakeActivities(
      {
        remediateHost: async (input) =>
          input.host.host === "host-1"
            ? { ...andFollowing(input, 1), look: { healthy: false, check: "check-3" } }
            : andFollowing(input),
        checkClusterHealth: async () => ({ healthy: true }),
        awaitClusterHealth: async ({ check }) => void given.push(check),
      },
      4,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(ownHosts(fake)).to.deep.equal(["host-1", "host-3"]);
    expect(fake.remediations.map(({ healthGate }) => healthGate)).to.deep.equal([true, true]);
    expect(given).to.deep.equal(["check-3"]);
  });

  it("pass the gate by a look that is made after a pause, not by one from before it", async () => {
    const gate = new Gate();
    const given: (string | undefined)[] = [];
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host !== "host-1") return andFollowing(input);
          await gate.pass();
          return { ...andFollowing(input, 1), look: { healthy: false, check: "check-before" } };
        },
        checkClusterHealth: async () => ({ healthy: false, check: "check-after" }),
        awaitClusterHealth: async ({ check }) => void given.push(check),
      },
      4,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    await gate.reached;
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Paused: "),
    );
    given.length = 0;
    gate.open();
    await eventually(
      () => upgrade.hosts(),
      (hosts) => hosts[1] === "SUCCESSFUL",
    );
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(given).to.deep.equal(["check-after"]);
  });

  it("leave the one in work to its own Activity, without a gate, also while the upgrade is paused", async () => {
    const gate = new Gate();
    const inWork = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.host.host === "host-1") {
            await gate.pass();
            return andBegun(input, 1);
          }
          if (input.host.host === "host-3") await inWork.pass({ ...hostProgress(input, 0), remoteTask: "task-7" });
          return andFollowing(input, 0);
        },
      },
      4,
    );
    const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
    await gate.reached;
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    await eventually(
      () => upgrade.subTask(),
      ({ description }) => description.startsWith("Paused: "),
    );
    gate.open();
    await inWork.reached;
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "IN_PROGRESS", "PENDING"]);
    expect(fake.remediations[1]?.resume).to.include({ host: "host-3", remoteTask: "task-7" });
    expect(fake.calls.filter((call) => call.startsWith("gate "))).to.have.length(1);
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    inWork.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(ownHosts(fake)).to.deep.equal(["host-1", "host-3", "host-4"]);
  });

  /** An upgrade whose first Activity is in work, and leaves host-3 begun when it is cancelled or its worker stops. */
  async function inFirstHost(): Promise<{ upgrade: RunningUpgrade; fake: FakeActivities }> {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.stop) throw activityFailure("CANCELLED");
          await gate.pass().catch(() => undefined);
          return andBegun(input, 1);
        },
      },
      4,
    );
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    return { upgrade, fake };
  }

  async function expectSafeEnd(upgrade: RunningUpgrade, fake: FakeActivities): Promise<void> {
    await upgrade.end().catch(() => undefined);
    expect(await upgrade.childEnd()).to.equal("CANCELLED");
    expect(fake.remediations.map(({ host, stop }) => [host.host, stop])).to.deep.equal([
      ["host-1", undefined],
      ["host-3", true],
    ]);
    expect(fake.remediations[1]?.resume).to.include({ host: "host-3", remoteTask: "task-7" });
  }

  it("bring the one in work to a safe end where the upgrade is cancelled, and begin no other", async () => {
    const { upgrade, fake } = await inFirstHost();
    await upgrade.handle.cancel();
    await expectSafeEnd(upgrade, fake);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
    expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
  });

  it("bring the one in work to a safe end also where no worker has taken its Activity yet", async () => {
    const { upgrade, fake } = await inFirstHost();
    // A worker that stops leaves what is in work to the next one, and nobody takes that for now.
    await bench().stopWorker();
    await bench().startWorker({ workflowsOnly: true });
    const cluster = await upgrade.child();
    await eventually(
      async () => (await cluster.describe()).raw.pendingActivities?.map(({ activityId }) => activityId),
      (pending) => pending?.includes("remediate/host-3") === true,
    );
    await upgrade.handle.cancel();
    await eventually(
      async () => (await cluster.fetchHistory()).events ?? [],
      (events) => events.some((event) => event.activityTaskCanceledEventAttributes),
    );
    await bench().stopWorker();
    await bench().startWorker();
    await expectSafeEnd(upgrade, fake);
  });

  it("fail one by one: what is left to the Activity of a host is counted there", async () => {
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (input.resume) throw hostFailure(input, input.resume.reportedFailures + 1);
          return input.host.host === "host-1" ? andBegun(input, 0) : andFollowing(input);
        },
      },
      4,
    );
    const upgrade = await bench().upgrade({ rollout: { toleratedFailures: 1 } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "FAILED", "SUCCESSFUL", "SUCCESSFUL"]);
    expect(ownHosts(fake)).to.deep.equal(["host-1", "host-2", "host-3"]);
  });

  it("are looked through again after a run that was lost, which says since when", async () => {
    let run = 0;
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (++run === 1) await new Gate().die({ ...hostProgress(input, 0), host: "host-2", remoteTask: "task-2" });
          return andFollowing(input);
        },
      },
      3,
    );
    const upgrade = await bench().upgrade({ resources: clusters(1, quickHeartbeats) }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map(({ lostSince }) => typeof lostSince)).to.deep.equal(["undefined", "string"]);
    expect(fake.remediations[1]).to.deep.include({ following: fake.remediations[0]?.following });
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("are not told where there is a soak time, where several go at once, and of baseline-managed clusters", async () => {
    for (const options of [
      { rollout: { soakSeconds: 1 } },
      { kinds: ["BASELINE"] as const },
      { kinds: ["BASELINE"] as const, rollout: { hostsAtOnce: 2 } },
    ]) {
      const fake = new FakeActivities({}, 2);
      expect(await (await bench().upgrade(options, fake)).end()).to.equal("SUCCESSFUL");
      expect(fake.remediations.every(({ following: hosts }) => hosts === undefined)).to.equal(true);
    }
  });
});

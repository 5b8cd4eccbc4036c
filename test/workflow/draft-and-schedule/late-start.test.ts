import { expect } from "chai";
import { utcMinute } from "../../../src/domain/timestamp";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { toldTo } from "../../support/notifier";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const [minute, hour] = [60_000, 3_600_000];
const scheduled = "Pending / SCHEDULED";

/** Hosts that wait for the gate. */
function gated(gate: Gate): FakeActivities {
  return new FakeActivities(
    {
      remediateHost: async (input) => {
        await gate.pass();
        return upgraded(input);
      },
    },
    1,
  );
}

const wait = async (upgrade: RunningUpgrade) => (await upgrade.task()).waitingFor;
const untilMissed = (upgrade: RunningUpgrade) =>
  eventually(
    () => wait(upgrade),
    (waitingFor) => waitingFor?.code === "COMMIT",
  );
const untilItWaits = async (upgrade: RunningUpgrade) => {
  await upgrade.untilStatuses(scheduled);
  await eventually(
    () => upgrade.events(),
    (events) => events.some((event) => event.timerStartedEventAttributes),
  );
};

describe("An upgrade whose time passes while no worker runs", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const second = 1000;
  const lateStartMinutes = 1 / 60;

  /** Starts an upgrade of so many clusters, all at this time, for whose lateness the limit is a second. */
  const start = (scheduledTimestamp: string, fake = new FakeActivities({}, 1)) =>
    bench().upgrade(
      {
        resources: clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp })),
        lateStartMinutes,
        notifications: [{ id: "chat", retryHours: 24 }],
      },
      fake,
    );

  /** An upgrade that no worker has seen until its time had passed by more than the limit. */
  async function missed(): Promise<RunningUpgrade> {
    await bench().stopWorker();
    const upgrade = await start(await bench().inTime(second));
    await bench().passTime(3 * second);
    await bench().startWorker();
    await untilMissed(upgrade);
    return upgrade;
  }

  it("waits for a commit, says so everywhere, and begins nothing", async () => {
    const upgrade = await missed();
    expect(await upgrade.statuses()).to.equal(scheduled);
    const [time] = upgrade.plan.spec.resourceUpgradeSpecs.map(({ scheduledTimestamp }) => scheduledTimestamp);
    expect((await wait(upgrade))?.message).to.contain(time);
    expect((await upgrade.upgrade()).waitingFor?.code).to.equal("COMMIT");
    expect((await upgrade.memo()).task.waitingFor?.code).to.equal("COMMIT");
    expect((await upgrade.task()).localizableDescriptionPack?.message).to.contain("waits for a commit");
    expect(await upgrade.currentDetails()).to.contain("--name commit");
    await eventually(
      async () => toldTo(upgrade.fake),
      (told) => told.includes("upgrade.start.missed"),
    );
    expect(upgrade.fake.changes).to.deep.equal([]);

    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await wait(upgrade)).to.equal(undefined);
    expect((await upgrade.task()).lateSeconds).to.equal(undefined);
    expect((await upgrade.upgrade()).waitingFor).to.equal(undefined);
  });

  it("waits for a commit where it had waited for its time before", async () => {
    let upgrade: RunningUpgrade;
    let time: string;
    // Again where the machine was so slow that the worker saw the time.
    do {
      time = await bench().inTime(5 * second);
      upgrade = await start(time);
      await untilItWaits(upgrade);
      await bench().stopWorker();
    } while (Date.now() > Date.parse(time));
    await bench().passTime(Date.parse(time) - Date.now() + 2 * second);
    await bench().startWorker();
    await untilMissed(upgrade);
    expect(upgrade.fake.changes).to.deep.equal([]);
    expect((await upgrade.ask("commit", { upgradeNow: true })).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("takes another time instead of a commit without one", async () => {
    const upgrade = await missed();
    const scheduledTimestamp = await bench().inTime(3600 * second);
    expect((await upgrade.ask("commit", { scheduledTimestamp })).accepted).to.equal(true);
    expect(await wait(upgrade)).to.equal(undefined);
    expect(await upgrade.statuses()).to.equal(scheduled);
    expect(await upgrade.currentDetails()).to.contain(utcMinute(Date.parse(scheduledTimestamp)));
    expect(upgrade.fake.changes).to.deep.equal([]);
  });

  it("is cancelled like any other", async () => {
    const upgrade = await missed();
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await wait(upgrade)).to.equal(undefined);
    expect(upgrade.fake.changes).to.deep.equal([]);
  });

  it("keeps one cluster waiting while another, which had begun, goes on", async () => {
    let gate: Gate;
    let upgrade: RunningUpgrade;
    let time: string;
    // Again where the machine was so slow that the worker saw the time.
    do {
      gate = new Gate();
      const [now, then] = clusters(2);
      time = await bench().inTime(6 * second);
      const resources = [now!, { ...then!, scheduledTimestamp: time }];
      upgrade = await bench().upgrade({ resources, lateStartMinutes }, gated(gate));
      await gate.reached;
      await bench().stopWorker();
    } while (Date.now() > Date.parse(time));
    await bench().passTime(Date.parse(time) - Date.now() + 2 * second);
    await bench().startWorker();
    await untilMissed(upgrade);
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    // The API judges a commit by what is published.
    expect((await upgrade.memo()).task.waitingFor?.code).to.equal("COMMIT");
    const waits = async () =>
      (await upgrade.task()).subTasks?.at(-1)?.subTasks?.map(({ waitingFor }) => waitingFor?.code);
    expect(await waits()).to.deep.equal([undefined, "COMMIT"]);
    gate.open();
    expect(await upgrade.childEnd(0)).to.equal("COMPLETED");
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    expect(upgrade.fake.changes.filter((change) => change.includes(upgrade.resourceId(1)))).to.deep.equal([]);
    const scheduledTimestamp = await bench().inTime(3600 * second);
    expect((await upgrade.ask("commit", { scheduledTimestamp })).accepted).to.equal(true);
    const times = (await upgrade.upgrade()).resourceUpgradeSpecs?.map((one) => one.scheduledTimestamp);
    expect(times, "what has begun keeps its time").to.deep.equal([undefined, scheduledTimestamp]);
    expect(await waits()).to.deep.equal([undefined, undefined]);
  });

  it("waits for a commit although one was sent before its time, while no worker ran", async () => {
    await bench().stopWorker();
    const upgrade = await start(await bench().inTime(second));
    await upgrade.handle.signal("commit", { requestedAt: new Date().toISOString() });
    await bench().passTime(3 * second);
    await bench().startWorker();
    await untilMissed(upgrade);
    expect(upgrade.fake.changes).to.deep.equal([]);
  });
});

describe("An upgrade that cannot begin at its time", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const second = 1000;
  const limitOfASecond = 1 / 60;

  /** An upgrade that was accepted an hour before its time, and is first seen by a worker so long after that. */
  async function late(milliseconds: number): Promise<RunningUpgrade> {
    const time = (await bench().now()) - milliseconds;
    const resources = clusters(1).map((cluster) => ({
      ...cluster,
      scheduledTimestamp: new Date(time).toISOString(),
    }));
    const notifications = [{ id: "chat", retryHours: 24 }];
    return bench().upgrade({ resources, notifications, now: time - hour }, new FakeActivities({}, 1));
  }

  it("begins by itself where it is late by less than an hour, and says how late", async () => {
    const upgrade = await late(40 * minute);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { lateSeconds, waitingFor, localizableDescriptionPack } = await upgrade.task();
    expect(lateSeconds).to.be.within(40 * 60, 45 * 60);
    expect(localizableDescriptionPack?.message).to.match(/started 4[0-5] minutes late/);
    expect(waitingFor).to.equal(undefined);
    const started = upgrade.fake.notifications.find(({ notice }) => notice.type === "upgrade.started")?.notice.data;
    expect(started?.lateSeconds).to.equal(lateSeconds);
    expect(toldTo(upgrade.fake)).not.to.include("upgrade.start.missed");
  });

  it("waits for a commit where it is late by more than an hour", async () => {
    const upgrade = await late(61 * minute);
    await untilMissed(upgrade);
    expect(await upgrade.statuses()).to.equal(scheduled);
    expect(upgrade.fake.changes).to.deep.equal([]);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("waits for a commit where the checks at its time have lasted too long", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ checkBundle: () => gate.pass().then(() => ({})) }, 1);
    const scheduledTimestamp = await bench().inTime(second);
    const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const upgrade = await bench().upgrade({ resources, lateStartMinutes: limitOfASecond }, fake);
    await gate.reached;
    await bench().passTime(2 * second);
    gate.open();
    await untilMissed(upgrade);
    expect(await upgrade.statuses()).to.equal(scheduled);
    expect(fake.changes).to.deep.equal([]);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("says nothing of lateness where it begins on time", async () => {
    const scheduledTimestamp = await bench().inTime(second);
    const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const upgrade = await bench().upgrade({ resources }, new FakeActivities({}, 1));
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.task()).lateSeconds).to.equal(undefined);
  });

  it("begins on a resume where it was paused at its time: whoever resumes sees it", async () => {
    const gate = new Gate();
    const [now, then] = clusters(2);
    const resources = [now!, { ...then!, scheduledTimestamp: await bench().inTime(2 * second) }];
    const upgrade = await bench().upgrade({ resources, lateStartMinutes: limitOfASecond }, gated(gate));
    await gate.reached;
    expect((await upgrade.ask("pause")).accepted).to.equal(true);
    gate.open();
    expect(await upgrade.childEnd(0)).to.equal("COMPLETED");
    await bench().passTime(4 * second);
    expect((await upgrade.ask("resume")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.task()).lateSeconds).to.equal(undefined);
  });
});

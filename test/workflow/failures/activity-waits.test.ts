import type { temporal } from "@temporalio/proto";
import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { type ActivityWaits, defaultActivityWaits } from "../../../src/domain/time-limits";
import { eventually } from "../../support/eventually";
import { activityFailure, FakeActivities, Gate } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { readTask, type SimulatedPlan, SimulatedPlatform, subTasksOf } from "../../support/simulated-platform";
import { useBench } from "../../support/upgrade-bench";

type Scheduled = temporal.api.history.v1.IActivityTaskScheduledEventAttributes;

const failed = "Failed / COMPLETED_WITH_FAILURE";
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

describe("The limits of a plan, around every Activity", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** Seconds by Activity Type: all tries, one run, and without a sign of life. */
  async function limits(upgrade: RunningUpgrade): Promise<Record<string, readonly number[]>> {
    const events = [...(await upgrade.events()), ...(await upgrade.events(0))];
    const seconds = ({ scheduleToCloseTimeout, startToCloseTimeout, heartbeatTimeout }: Scheduled) =>
      [scheduleToCloseTimeout, startToCloseTimeout, heartbeatTimeout].map((limit) => Number(limit?.seconds));
    return Object.fromEntries(
      events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [[scheduled.activityType?.name, seconds(scheduled)]] : [],
      ),
    );
  }

  async function endedWith(waits: Partial<ActivityWaits>): Promise<Record<string, readonly number[]>> {
    const fake = new FakeActivities(
      {
        awaitClusterHealth: async () => undefined,
      },
      1,
    );
    const upgrade = await bench().upgrade({ waits, rollout: { healthGate: true } }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    return limits(upgrade);
  }

  it("are what it says", async () => {
    const waits: ActivityWaits = {
      ...defaultActivityWaits,
      readMinutes: 5,
      readRunSeconds: 70,
      precheckMinutes: 9,
      restoreHours: 2,
      heartbeatSeconds: 20,
      stepDays: 3,
    };
    expect(await endedWith(waits)).to.deep.include({
      runClusterPrechecks: [9 * minute, 3 * minute, 20],
      readClusterHosts: [5 * minute, 70, 20],
      readRemediationPolicy: [5 * minute, 70, 20],
      putRemediationPolicy: [0, 3 * day, 20],
      setDesiredImage: [0, 3 * day, 20],
      awaitClusterHealth: [0, 3 * day, 20],
      remediateHosts: [0, 3 * day, 20],
      restoreRemediationPolicy: [2 * hour, 70, 20],
    });
  });

  it("are the defaults where it does not say, or does not say all", async () => {
    const defaults = {
      runClusterPrechecks: [hour, 20 * minute, 15],
      readClusterHosts: [hour, 2.5 * minute, 15],
      putRemediationPolicy: [0, 7 * day, 15],
      remediateHosts: [0, 7 * day, 15],
      restoreRemediationPolicy: [day, 2.5 * minute, 15],
    };
    expect(await endedWith({})).to.deep.include(defaults);
    expect(
      await endedWith({ readMinutes: 5, precheckMinutes: 60, restoreHours: 24, takeBackHours: 4 }),
    ).to.deep.include({ ...defaults, readClusterHosts: [5 * minute, 2.5 * minute, 15] });
  });

  /** The part that an upgrade has failed with. */
  async function told(upgrade: RunningUpgrade) {
    const task = await eventually(
      () => readTask(bench().env, upgrade.id),
      ({ status }) => status !== "Pending" && status !== "In Progress",
      20_000,
    );
    expect([task.status, task.isRetryable]).to.deep.equal(["Failed", true]);
    return innermostFailure(task);
  }

  it("end a host whose Activity gives no sign of life any more, as often as it is taken over", async () => {
    let runs = 0;
    const fake = new FakeActivities({ remediateHost: () => (runs++, new Gate().die()) }, 1);
    const upgrade = await bench().upgrade({ waits: { heartbeatSeconds: 1, lostRuns: 2 } }, fake);
    const { name, code, message, remediation } = await told(upgrade);
    expect([name, code, runs]).to.deep.equal(["esx-01.example.com", "ACTIVITY_TIMED_OUT", 3]);
    expect(message).to.equal("The Activity stopped heartbeating and every retry failed (HEARTBEAT).");
    expect(remediation).to.match(/workers are running/);
    expect(fake.calls.slice(-2).map((call) => call.split(" ")[0])).to.deep.equal(["restorePolicy", "readHosts"]);
  });

  it("end a host whose Activity gets on for ever", async () => {
    let runs = 0;
    const fake = new FakeActivities({ remediateHost: () => (runs++, new Gate().pass() as Promise<never>) }, 1);
    const upgrade = await bench().upgrade({ waits: { stepDays: 1 / day, lostRuns: 1, heartbeatSeconds: 1 } }, fake);
    const { code, message } = await told(upgrade);
    expect([code, runs]).to.deep.equal(["ACTIVITY_TIMED_OUT", 2]);
    expect(message).to.equal("The Activity exceeded the time limit of a run and every retry failed (START_TO_CLOSE).");
  });

  it("end a step that is none of a host in the same way", async () => {
    const fake = new FakeActivities({ setDesiredImage: () => new Gate().die() }, 1);
    const upgrade = await bench().upgrade({ waits: { heartbeatSeconds: 1, lostRuns: 1 } }, fake);
    const { stage, code } = await told(upgrade);
    expect([stage, code]).to.deep.equal(["SET_DESIRED_IMAGE", "ACTIVITY_TIMED_OUT"]);
  });

  it("end a read that fails each time with what it failed of, and one that hangs with the limit", async () => {
    const fails = () => Promise.reject(activityFailure("COMPONENT_MANAGER_UNREACHABLE", { nonRetryable: false }));
    const waits = { readMinutes: 2 / minute };
    const failing = await bench().upgrade({ waits }, new FakeActivities({ readClusterHosts: fails }));
    expect(await told(failing)).to.include({ stage: "READ_HOSTS", code: "COMPONENT_MANAGER_UNREACHABLE" });
    const hangs = () => new Gate().pass() as Promise<never>;
    const hanging = await bench().upgrade({ waits }, new FakeActivities({ readClusterHosts: hangs }));
    expect((await told(hanging)).message).to.match(/^The Activity did not succeed within its total time limit/);
  });

  it("end the restore of settings with what to do by hand", async () => {
    const fails = () => Promise.reject(activityFailure("COMPONENT_MANAGER_UNREACHABLE", { nonRetryable: false }));
    const resources = clusters(1);
    const fake = new FakeActivities({ restoreRemediationPolicy: fails }, 1);
    const upgrade = await bench().upgrade({ resources, waits: { restoreHours: 2 / hour } }, fake);
    await upgrade.untilStatuses(failed);
    const { stage, code } = await told(upgrade);
    expect([stage, code]).to.deep.equal(["RESTORE_REMEDIATION_POLICY", "REMEDIATION_POLICY_NOT_RESTORED"]);
  });

  describe("with the real Activities on the simulator", () => {
    let platform: SimulatedPlatform;
    beforeEach(async () => {
      platform = await SimulatedPlatform.start();
    });
    afterEach(() => platform.close());

    async function start(product: "NETVIRT" | "HOSTOS", plan: SimulatedPlan, limitsOfWorker = {}) {
      return told(await bench().upgrade(platform.plan(product, plan), platform.activities(limitsOfWorker)));
    }

    it("end NETVIRT's own checks before the prechecks time out, naming what still runs", async () => {
      await platform.hostSeconds(600);
      const { name, stage, code, message, remediation } = await start("NETVIRT", {
        waits: { precheckMinutes: 18 / 60 },
      });
      expect(name).to.match(/nsx-01/);
      expect([stage, code]).to.deep.equal(["NETVIRT_PRE_UPGRADE_CHECKS", "NETVIRT_CHECKS_UNFINISHED"]);
      expect(message).to.match(/checks of nsx-01 did not end within \d s \(.*EDGE.*\)\./);
      expect(remediation).to.match(/in the coordinator, then run the prechecks again/);
      expect(await platform.steps()).to.deep.equal(["NSX_CHECKS_STARTED"]);
    });

    it("end the wait for an answer where the worker is not patient for longer, or one run has no time for more", async () => {
      await platform.fault({ kind: "CONNECTION_DROPPED" });
      const { stage, code, message } = await start("HOSTOS", {}, { answer: 1_000 });
      expect([stage, code]).to.deep.equal(["COMPONENT_MANAGER_REACHABLE", "COMPONENT_MANAGER_UNREACHABLE"]);
      expect(message).to.match(/Waited for 1 s\./);
    });

    it("leave an answer the time of one run only, less a last call", async () => {
      await platform.fault({ kind: "CONNECTION_DROPPED" });
      const { code, message } = await start("HOSTOS", { waits: { precheckMinutes: 9 / 60 } }, { callTimeout: 1_000 });
      expect(code).to.equal("COMPONENT_MANAGER_UNREACHABLE");
      expect(message).to.match(/Waited for 2 s\./);
    });
  });
});

/** The innermost part that failed, with its Stage and error. */
function innermostFailure(task: Task) {
  const part = subTasksOf(task).findLast(({ status }) => status === "FAILED");
  const [error] = part?.errors ?? [];
  return {
    name: part?.name,
    stage: part?.stages?.find(({ status }) => status === "FAILED")?.type,
    code: error?.errorCode,
    message: error?.message,
    remediation: error?.remediationMessage,
  };
}

import { expect } from "chai";
import pino from "pino";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import {
  FakeActivities,
  Gate,
  hostFailure,
  hostProgress,
  passedCheck,
  sampleError,
  upgraded,
} from "../../support/fake-activities";
import { quickHeartbeats } from "../../support/quick-heartbeats";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

/** Three attempts, and a delay that no test could sit out. */
const retryLater = { hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2, retryDelay: 3600 } } as const;

describe("Activities that are lost with their worker", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  const attemptsGranted = async (upgrade: RunningUpgrade) =>
    (await upgrade.events(0)).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled?.activityType?.name === "remediateHosts" ? [scheduled.retryPolicy?.maximumAttempts] : [],
    );

  it("use up no attempt when heartbeats stop: a host with one attempt is upgraded after two losses", async () => {
    let run = 0;
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (++run <= 2) await new Gate().die({ ...hostProgress(input, 0), remoteTask: `task-${run}` });
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({ resources: clusters(1, quickHeartbeats) }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map(({ resume }) => resume?.remoteTask)).to.deep.equal([undefined, "task-1", "task-2"]);
    expect(await attemptsGranted(upgrade)).to.deep.equal([1, 1, 1]);
  });

  it("keep the count of failures: after a loss only the attempts that are left are granted", async () => {
    let run = 0;
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (++run === 1) await new Gate().die(hostProgress(input, 2, sampleError("HOST_REMEDIATION_FAILED")));
          throw hostFailure(input, (input.resume?.failures[0] ?? 0) + 1);
        },
      },
      1,
    );
    const resources = clusters(1, quickHeartbeats).map((cluster) => ({
      ...cluster,
      hostosUpgradeOptionsSpec: retryLater,
    }));
    const upgrade = await bench().upgrade({ resources }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(fake.remediations).to.have.length(2);
    expect(await attemptsGranted(upgrade)).to.deep.equal([3, 1]);
  });

  it("go on at once when their worker is stopped in good order, without waiting for the retry delay", async () => {
    const gate = new Gate();
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          if (!input.resume) await gate.pass({ ...hostProgress(input, 1), remoteTask: "task-7" });
          return upgraded(input);
        },
      },
      1,
    );
    const resources = clusters(1).map((cluster) => ({ ...cluster, hostosUpgradeOptionsSpec: retryLater }));
    const upgrade = await bench().upgrade({ resources }, fake);
    await gate.reached;
    await bench().stopWorker();
    await bench().startWorker();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.remediations.map(({ resume }) => resume?.remoteTask)).to.deep.equal([undefined, "task-7"]);
    expect(await attemptsGranted(upgrade)).to.deep.equal([3, 2]);
  });

  it("run again whatever step it is: prechecks, reads, changes with one attempt, and the restore", async () => {
    const steps = [
      "runClusterPrechecks",
      "readClusterHosts",
      "readRemediationPolicy",
      "putRemediationPolicy",
      "setDesiredImage",
      "restoreRemediationPolicy",
    ] as const;
    const upgrades = await Promise.all(
      steps.map(async (step) => {
        const gate = new Gate();
        let runs = 0;
        const lostOnce = async <T>(result: T): Promise<T> => {
          if (++runs === 1) await gate.pass();
          return result;
        };
        const answers = {
          runClusterPrechecks: () => lostOnce({ stages: passedCheck() }),
          readClusterHosts: () => lostOnce([]),
          readRemediationPolicy: () => lostOnce({ previous: {} }),
          putRemediationPolicy: () => lostOnce(undefined),
          setDesiredImage: () => lostOnce({ changed: false }),
          restoreRemediationPolicy: () => lostOnce(undefined),
        };
        const upgrade = await bench().upgrade({}, new FakeActivities({ [step]: answers[step] }, 1));
        await gate.reached;
        return { upgrade, runs: () => runs };
      }),
    );
    await bench().stopWorker();
    await bench().startWorker();
    const outcomes = await Promise.all(upgrades.map(({ upgrade }) => upgrade.end()));
    expect(outcomes).to.deep.equal(steps.map((step) => (step === "readClusterHosts" ? "NOTHING_TO_DO" : "SUCCESSFUL")));
    expect(upgrades.map(({ runs }) => runs())).to.deep.equal(steps.map(() => 2));
  });

  it("show in the Task, between two attempts, which one comes, when, and after what", async () => {
    const fake = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) });
    const resources = clusters(1).map((cluster) => ({ ...cluster, hostosUpgradeOptionsSpec: retryLater }));
    const upgrade = await bench().upgrade({ resources }, fake);
    const executions = temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" }));
    const readHost = async () => {
      const read = await executions.readTask(upgrade.id)();
      return read._tag === "Right" ? read.right.subTasks?.at(-1)?.subTasks?.[0]?.subTasks?.[0] : undefined;
    };
    const host = await eventually(readHost, (shown) => shown?.description.startsWith("Attempt") === true);
    const [, next = ""] =
      /^Attempt 2 of 3 starts at (\S+), after: Host esx-01.example.com failed$/.exec(host?.description ?? "") ?? [];
    expect(Date.parse(next) - (await bench().now())).to.be.within(3_500_000, 3_600_000);
    expect([host?.status, host?.errors?.[0]?.errorCode]).to.deep.equal(["IN_PROGRESS", "HOST_REMEDIATION_FAILED"]);
    expect(host?.stages?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "CHECK_COMPLIANCE SUCCESSFUL",
      "REMEDIATE FAILED",
      "RECONNECT PENDING",
      "VERIFY PENDING",
    ]);
  });
});

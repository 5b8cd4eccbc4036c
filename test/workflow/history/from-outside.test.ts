import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { isRight } from "fp-ts/Either";
import pino from "pino";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { failedCheck, FakeActivities, Gate, passedCheck, upgraded } from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";
import { temporalCli } from "../../support/workflow-environment";

const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("What somebody does to Workflows in the Temporal Web UI", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** An upgrade of two clusters, each in the middle of its first host. */
  async function inTheMiddle() {
    const [first, second] = [new Gate(), new Gate()];
    const resources = clusters(2);
    const fake = new FakeActivities(
      {
        remediateHost: async (input) => {
          await (input.cluster.resourceId === resources[0]?.resourceId ? first : second).pass();
          return upgraded(input);
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({ resources }, fake);
    await Promise.all([first.reached, second.reached]);
    return { upgrade, first, second };
  }

  const readTask = async (id: string) => {
    const read = await temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" })).readTask(id)();
    if (!isRight(read)) throw new Error("The Task cannot be read");
    return read.right;
  };

  for (const [what, act, code, says, hostSays] of [
    ["terminates", "terminate", "CLUSTER_WORKFLOW_LOST", "terminated", /State unknown/],
    ["cancels", "cancel", "CANCELLED", "cancelled", /was running/],
  ] as const)
    it(`fails an upgrade of which somebody ${what} one cluster, says so, and finishes the others`, async () => {
      const { upgrade, first, second } = await inTheMiddle();
      await (await upgrade.child(0))[act]();
      await upgrade.childEnd(0);
      second.open();
      await upgrade.untilStatuses(failed);
      const { errors = [], subTasks = [], isRetryable } = await readTask(upgrade.id);
      expect(errors.map(({ errorCode, context }) => [errorCode, context?.["resourceId"]])).to.deep.equal([
        [code, upgrade.resourceId(0)],
      ]);
      expect(errors[0]?.message)
        .to.contain(`${upgrade.resourceId(0)}-name`)
        .and.to.contain(says);
      expect(errors[0]?.remediationMessage).to.contain("component manager");
      const [broken, sound] = subTasks.at(-1)?.subTasks ?? [];
      expect([broken?.status, sound?.status]).to.deep.equal(["FAILED", "SUCCESSFUL"]);
      expect(broken?.subTasks?.[0]?.description).to.match(hostSays);
      expect(isRetryable).to.equal(true);
      first.open();
      await upgrade.ask("retry");
      expect(await upgrade.end()).to.be.oneOf(["SUCCESSFUL", "NOTHING_TO_DO"]);
    });

  it("fails an upgrade one of whose clusters was terminated before its turn, and upgrades the other", async () => {
    const scheduledTimestamp = await bench().inTime(1_800_000);
    const resources = clusters(2).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const upgrade = await bench().upgrade({ resources }, new FakeActivities({}, 1));
    await upgrade.untilStatuses("Pending / SCHEDULED");
    await (await upgrade.child(0)).terminate("out of the way");
    await upgrade.ask("commit", { upgradeNow: true });
    await upgrade.untilStatuses(failed);
    const touched = new Set(upgrade.fake.changes.map((change) => change.split(/[ /]/)[1]));
    expect([...touched]).to.deep.equal([upgrade.resourceId(1)]);
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["CLUSTER_WORKFLOW_LOST"]);
    expect(await upgrade.childEnd(1)).to.equal("COMPLETED");
  });

  it("brings the clusters of a terminated upgrade to a safe end, and its Task says that it was terminated", async () => {
    const { upgrade } = await inTheMiddle();
    await upgrade.handle.terminate("wrong window");
    expect(await Promise.all([upgrade.childEnd(0), upgrade.childEnd(1)])).to.deep.equal(["CANCELLED", "CANCELLED"]);
    for (const n of [0, 1]) expect(upgrade.fake.changes).to.include(`restorePolicy ${upgrade.resourceId(n)}`);
    const task = await readTask(upgrade.id);
    expect([task.status, task.isRetryable, task.isCancellable]).to.deep.equal(["Failed", false, false]);
    expect(task.errors?.at(-1)?.errorCode).to.equal("UPGRADE_LOST");
    expect(task.errors?.at(-1)?.message).to.contain("terminated");
    const hosts = task.subTasks?.at(-1)?.subTasks?.flatMap(({ subTasks = [] }) => subTasks) ?? [];
    expect(hosts.map(({ status, errors }) => [status, errors?.[0]?.errorCode])).to.deep.equal(
      Array(2).fill(["FAILED", "CANCELLED"]),
    );
    const next = await bench().upgrade({ resources: upgrade.plan.spec.resourceUpgradeSpecs });
    expect(await next.end(), "its clusters are free").to.equal("SUCCESSFUL");
  });
});

describe("What somebody sends by the Temporal CLI", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const signal = (workflowId: string, name: string, ...more: string[]) =>
    promisify(execFile)(temporalCli(), [
      ...["workflow", "signal", "--address", bench().env.address],
      ...["--workflow-id", workflowId, "--name", name, ...more],
    ]);

  it("pauses and resumes an upgrade", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 2);
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await signal(upgrade.id, "pause");
    await upgrade.untilStatuses("In Progress / PAUSED");
    await signal(upgrade.id, "resume", "--input", '{"requestId": "mine", "requestedBy": "operator"}');
    const { accepted, requestedBy } = await upgrade.outcomeOf("mine");
    expect([accepted, requestedBy]).to.deep.equal([true, "operator"]);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("runs the prechecks of a draft again, and commits it", async () => {
    let runs = 0;
    const runClusterPrechecks = async () => ({ stages: runs++ === 0 ? failedCheck() : passedCheck() });
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({ runClusterPrechecks }, 1));
    await upgrade.untilStatuses("Pending / DRAFT");
    await signal(upgrade.id, "prechecks", "--input", '{"requestId": "again"}');
    expect((await upgrade.outcomeOf("again")).run).to.equal(2);
    await upgrade.untilStatuses("Pending / DRAFT");
    await signal(upgrade.id, "commit", "--input", '{"upgradeNow": true}');
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});

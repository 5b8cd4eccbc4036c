import { expect } from "chai";
import { isLeft } from "fp-ts/Either";
import pino from "pino";
import type { Task } from "../../../src/domain/spec/task";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { useBench } from "../../support/upgrade-bench";

describe("A Task that is read while no worker runs", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const executions = () => temporalUpgradeExecutions(bench().env.client, pino({ level: "silent" }));

  async function read({ readTask }: ReturnType<typeof executions>, id: string): Promise<Task> {
    const task = await readTask(id)();
    if (isLeft(task)) throw new Error(JSON.stringify(task.left));
    return task.right;
  }

  const hostsOf = (task: Task) =>
    (task.subTasks?.at(-1)?.subTasks?.[0]?.subTasks ?? []).map(({ status, description }) => `${status} ${description}`);

  it("does not go back: neither where it was read before nor in another process of the API", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (input.host.host === "host-3") await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    const known = executions();
    // A worker that is busy may be late with an answer, and the Task is then what was last published.
    const before = await eventually(
      () => read(known, upgrade.id),
      (task) => hostsOf(task)[2]?.startsWith("IN_PROGRESS") === true,
    );
    expect(hostsOf(before).map((host) => host.split(" ")[0])).to.deep.equal([
      "SUCCESSFUL",
      "SUCCESSFUL",
      "IN_PROGRESS",
    ]);
    await bench().stopWorker();

    const began = Date.now();
    const after = await read(known, upgrade.id);
    expect(Date.now() - began).to.be.lessThan(4000);
    expect(hostsOf(after).slice(0, 2)).to.deep.equal(hostsOf(before).slice(0, 2));
    expect(hostsOf(after)[2]).to.match(/^IN_PROGRESS/);
    expect(after.status).to.equal("In Progress");

    const elsewhere = await read(executions(), upgrade.id);
    expect(hostsOf(elsewhere).slice(0, 2)).to.deep.equal(hostsOf(before).slice(0, 2));

    gate.open();
    await bench().startWorker();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(hostsOf(await read(known, upgrade.id)).map((host) => host.split(" ")[0])).to.deep.equal(
      Array(3).fill("SUCCESSFUL"),
    );
  });
});

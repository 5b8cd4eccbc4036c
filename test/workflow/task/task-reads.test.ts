import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { isLeft } from "fp-ts/Either";
import pino from "pino";
import type { Task } from "../../../src/domain/spec/task";
import { lazyClient } from "../../../src/temporal/connection";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { useBench } from "../../support/upgrade-bench";

describe("A Task that is read again and again", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  /** A process of the API, with the number of Queries that it has sent. */
  class Reader {
    queries = 0;
    private readonly address = bench().env.address;
    private readonly client = lazyClient(
      { address: this.address, namespace: "default", connection: { address: this.address } },
      {},
      { onCall: (operation) => (this.queries += operation === "QueryWorkflow" ? 1 : 0) },
    );
    readonly executions = temporalUpgradeExecutions(this.client, pino({ level: "silent" }));

    async read(id: string): Promise<Task> {
      const task = await this.executions.readTask(id)();
      if (isLeft(task)) throw new Error(JSON.stringify(task.left));
      return task.right;
    }

    /** How many Queries the next read takes. */
    async queriesOfRead(id: string): Promise<number> {
      const before = this.queries;
      await this.read(id);
      return this.queries - before;
    }

    close(): Promise<void> {
      return this.client.connection.close();
    }
  }

  const readers: Reader[] = [];
  const reader = () => {
    const made = new Reader();
    readers.push(made);
    return made;
  };
  afterEach(() => Promise.all(readers.splice(0).map((made) => made.close())));

  it("asks no Workflow to which nothing has happened, and shows at once what another process has brought about", async () => {
    const gates = [new Gate(), new Gate()];
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        const gate = gates[["host-2", "host-3"].indexOf(input.host.host)];
        await gate?.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    const { id } = upgrade;
    const [one, other] = [reader(), reader()];
    /** Both read what somebody reads who has never read before, and it takes no Query. */
    const isAsRead = async () => {
      await eventually(
        async () => [await reader().read(id), await one.read(id), await other.read(id)],
        ([fresh, ...known]) => known.every((task) => isDeepStrictEqual(task, fresh)),
      );
      await eventually(
        () => one.queriesOfRead(id),
        (queries) => queries === 0,
      );
    };

    await gates[0]?.reached;
    await isAsRead();
    gates[0]?.open();
    await gates[1]?.reached;
    await isAsRead();

    await other.read(id);
    const asked = { requestId: "a pause", requestedBy: "a test" };
    expect(await one.executions.request(id, { name: "pause" }, asked)()).to.have.property("_tag", "Right");
    expect((await other.read(id)).localizableDescriptionPack?.messageKey).to.equal("upgrade.task.paused");
    await isAsRead();

    await upgrade.ask("resume", { requestedBy: "a test" });
    gates[1]?.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await other.read(id)).status).to.equal("Successful");
    await isAsRead();
  });
});

import { expect } from "chai";
import type { TaskStatus } from "../../src/domain/task";
import { exampleNow } from "../system/examples";
import { cluster } from "../system/servers-under-test";
import { ServiceUnderTest, until } from "../system/service-under-test";
import { expectConsistentEnd } from "./oracle";
import { Operator } from "./operator";

const resourceId = cluster("34");
const options = { disableHac: true, hostosUpgradeFailureAction: { action: "FAIL" } };
const request = {
  ...{ bundleId: exampleNow("cluster-draft").bundleId, resourceType: "CLUSTER" },
  resourceUpgradeSpecs: [{ resourceId, hostosUpgradeOptionsSpec: options, upgradeNow: true }],
};

/** Refuses every change of the remediation policy, and counts how often one was tried. */
const refusesPolicy = { kind: "SERVICE_UNAVAILABLE", method: "PUT", path: "policies/apply", times: 1_000_000 };

interface Cell {
  /** What a worker tries again and again. */
  readonly name: string;
  /** The Activity in which it does. */
  readonly activity: string;
  readonly fault: Readonly<Record<string, unknown>>;
  /** What the Task says while it cannot; refusals are counted where there is nothing. */
  readonly waits?: string;
  /** A line of the ledger with which the fault begins; from the beginning where there is none. */
  readonly from?: string;
  readonly cancelled?: true;
  readonly ends: TaskStatus;
  readonly starts: readonly number[];
}

const all = [1, 1, 1, 1];
const cells: readonly Cell[] = [
  {
    name: "sets the remediation policy",
    activity: "putRemediationPolicy",
    fault: refusesPolicy,
    ends: "Successful",
    starts: all,
  },
  {
    name: "puts the remediation policy back",
    activity: "restoreRemediationPolicy",
    fault: refusesPolicy,
    from: "APPLY_REQUESTED",
    ends: "Successful",
    starts: all,
  },
  {
    name: "waits for another operation to remediate a host",
    activity: "remediateHost",
    fault: { kind: "OPERATION_IN_PROGRESS", cluster: "domain-c34" },
    waits: "Requesting the remediation",
    from: "IMAGE_COMMITTED",
    cancelled: true,
    ends: "Cancelled",
    starts: [],
  },
];

describe("a worker that is frozen, replaced and woken while it", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;

  before(async () => {
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "0.8",
      POLL_MIN_MILLISECONDS: "50",
      POLL_MAX_MILLISECONDS: "500",
      HEARTBEAT_SECONDS: "5",
      COMPONENT_MANAGER_CALL_SECONDS: "2",
    });
  });
  after(() => service.discard());
  beforeEach(() => service.resetSimulator());

  /** The process that runs this Activity of the cluster. */
  async function runnerOf(activity: string): Promise<number> {
    let pid: number | undefined;
    await until(`a worker runs ${activity}`, async () => {
      const pending = await service.withTemporal(async (client) => {
        // Not there before the upgrade takes its locks.
        const found = await client.workflow
          .getHandle(`cluster/${resourceId}`)
          .describe()
          .catch(() => undefined);
        return found?.raw.pendingActivities ?? [];
      });
      const own = pending.find(({ activityType }) => activityType?.name === activity);
      pid = own?.lastWorkerIdentity ? parseInt(own.lastWorkerIdentity) : undefined;
      return pid !== undefined;
    });
    return pid ?? 0;
  }

  const faults = async (method: "GET" | "DELETE") =>
    fetch(`${service.simulatorUrl}/simulator/faults`, { method }).then((answer) => answer.text());

  /** Until a worker has been refused, or says that it waits. */
  async function untilHeldUp(id: string, { activity, waits }: Cell): Promise<void> {
    if (waits !== undefined) {
      await service.taskWhen(id, "waits", (task) => JSON.stringify(task).includes(waits));
      return;
    }
    await until(`${activity} was refused`, async () => {
      const [fault] = JSON.parse(await faults("GET")) as { remaining: number }[];
      return fault !== undefined && fault.remaining < refusesPolicy.times;
    });
  }

  const givenUp = () =>
    service.log("worker").filter(({ msg }) => msg.startsWith("Temporal has given this Activity up")).length;

  for (const cell of cells)
    it(`${cell.name} changes nothing more`, async () => {
      const { activity, fault, from, cancelled, ends, starts } = cell;
      const operator = new Operator(service);
      const policy = await service.policy("domain-c34");
      if (from === undefined) await service.fault(fault);
      const { id } = await service.startUpgrade(request);
      if (from !== undefined) {
        await operator.ledgerHas(from);
        await service.fault(fault);
      }
      const frozen = await runnerOf(activity);
      await untilHeldUp(id, cell);
      const before = givenUp();
      process.kill(frozen, "SIGSTOP");
      try {
        if (cancelled) await operator.cancel(id);
        else await faults("DELETE");
        await service.taskWhen(id, `is ${ends}`, ({ status }) => status === ends, 120);
        if (cancelled) await faults("DELETE");
        await expectConsistentEnd(service, { id, task: ends, starts, policy });
        const ledger = await service.ledger();

        process.kill(frozen, "SIGCONT");
        await until("the woken worker knows that the work is not its own", () => givenUp() > before);
        expect((await service.ledger()).slice(ledger.length), "what the woken worker has done").to.deep.equal([]);
        await expectConsistentEnd(service, { id, task: ends, starts, policy });
      } finally {
        process.kill(frozen, "SIGCONT");
      }
    });
});

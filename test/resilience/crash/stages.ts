import type { TaskStatus } from "../../../src/domain/spec/task";
import { exampleNow } from "../../support/service/examples";
import { cluster, mgmtId, partsOf } from "../../support/service/servers-under-test";
import type { Operator } from "./operator";

/** An upgrade at the stage where the crash is to come. */
interface Reached {
  /** What its operator does when all is up again, beginning with what the crash cut off; gives the upgrade's id. */
  readonly goOn: () => Promise<string>;
  /** How it then ends. */
  readonly ends: TaskStatus;
  /** How often each host's remediation is started in all; undefined where it is chance how many are begun, once each. */
  readonly starts: readonly number[] | undefined;
}

/** A moment in the life of an upgrade. */
export interface Stage {
  readonly name: string;
  /** Longest pause between reaching the stage and the crash, in milliseconds; the seed decides. */
  readonly within: number;
  readonly reach: (operator: Operator, key: string) => Promise<Reached>;
}

const resourceId = cluster("34");
/** Lost attempts would show at once: a host that fails once fails its upgrade. */
const options = { disableHac: true, disableDpm: true, hostosUpgradeFailureAction: { action: "FAIL" } };
const { bundleId } = exampleNow("cluster-draft");

function request(resource: object = { upgradeNow: true }, more: object = {}) {
  return {
    ...{ bundleId, resourceType: "CLUSTER" },
    resourceUpgradeSpecs: [{ resourceId, hostosUpgradeOptionsSpec: options, ...resource }],
    ...more,
  };
}
const draft = request({ upgradeNow: true }, { draftMode: true });

const isDraft = ({ status }: { status?: string }) => status === "DRAFT";
const successful = { ends: "Successful", starts: [1, 1, 1, 1] } as const;

/** A draft whose prechecks have passed. */
async function readyDraft(operator: Operator, key: string): Promise<string> {
  const id = await operator.start(draft, key);
  await operator.service.taskWhen(id, "waits", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
  return id;
}

const commit = (operator: Operator, id: string) =>
  operator.sendUntil((upgrade) => !isDraft(upgrade), id, "PATCH", `/v1/upgrades/${id}`);

/** Starts an upgrade that needs nobody any more. */
function running(reached: (operator: Operator, id: string) => Promise<unknown>): Stage["reach"] {
  return async (operator, key) => {
    const id = await operator.start(request(), key);
    await reached(operator, id);
    return { goOn: () => Promise.resolve(id), ...successful };
  };
}

/** An upgrade whose second host fails once. */
async function failed(operator: Operator, key: string): Promise<string> {
  await operator.service.fault({ kind: "REMEDIATION_FAILS", host: "fra1-esx-02.mgmt.example.com", times: 1 });
  const id = await operator.start(request(), key);
  await operator.service.taskWhen(id, "has failed", ({ status }) => status === "Failed");
  return id;
}

/** A request whose answer the crash may cut off; with the same key it is sent again. */
const posted: Stage["reach"] = (operator, key) => {
  void operator.post(request(), key);
  return Promise.resolve({ goOn: () => operator.start(request(), key), ...successful });
};

const retried = { ...successful, starts: [1, 2, 1, 1] } as const;
const retry = (operator: Operator, id: string) =>
  operator.sendUntil(({ status }) => status !== "COMPLETED_WITH_FAILURE", id, "PATCH", `/v1/tasks/${id}`);

const freeze = ["/v1/freeze", "Smoke in the hall"] as const;
const hold = [`/v1/clusters/${resourceId}/hold`, "Storage is replaced"] as const;

/** An upgrade with a host in work, whose next hosts are kept from beginning; `last` is the request that the crash may cut off. */
function kept([path, reason]: readonly [string, string], last: "PUT" | "DELETE" | undefined): Stage["reach"] {
  return async (operator, key) => {
    const id = await operator.start(request(), key);
    await operator.ledgerHas("APPLY_STARTED");
    if (last === "PUT") void operator.send("PUT", path, { reason });
    else await operator.untilDone("PUT", path, { reason });
    if (last === "DELETE") void operator.send("DELETE", path);
    const goOn = async () => {
      if (last !== "DELETE") {
        await operator.untilDone("PUT", path, { reason });
        await operator.staysStill();
      }
      await operator.untilDone("DELETE", path);
      return id;
    };
    return { goOn, ...successful };
  };
}

/** The stages of the matrix. */
export const stages: readonly Stage[] = [
  {
    name: "a POST is decoded",
    within: 15,
    reach: posted,
  },
  {
    name: "a start is not yet answered",
    within: 120,
    reach: posted,
  },
  {
    name: "a draft waits",
    within: 300,
    reach: async (operator, key) => {
      const id = await readyDraft(operator, key);
      return { goOn: () => commit(operator, id).then(() => id), ...successful };
    },
  },
  {
    name: "prechecks run",
    within: 100,
    reach: async (operator, key) => {
      const id = await operator.start(draft, key);
      await operator.service.taskWhen(id, "is checked", ({ subTasks }) => subTasks?.[0]?.status === "IN_PROGRESS");
      return {
        goOn: async () => {
          await operator.service.taskWhen(id, "waits", ({ subTasks }) => subTasks?.[0]?.status === "SUCCESSFUL");
          await commit(operator, id);
          return id;
        },
        ...successful,
      };
    },
  },
  {
    name: "a commit is not yet answered",
    within: 60,
    reach: async (operator, key) => {
      const id = await readyDraft(operator, key);
      void operator.send("PATCH", `/v1/upgrades/${id}`);
      return { goOn: () => commit(operator, id).then(() => id), ...successful };
    },
  },
  {
    name: "an upgrade waits for its time",
    within: 2_000,
    reach: async (operator, key) => {
      const scheduledTimestamp = new Date(Date.now() + 6_000).toISOString();
      const id = await operator.start(request({ scheduledTimestamp }), key);
      await operator.upgradeIs(id, "it is scheduled", ({ status }) => status === "SCHEDULED");
      return { goOn: () => Promise.resolve(id), ...successful };
    },
  },
  {
    name: "the cluster's lock is taken",
    within: 150,
    reach: running((operator, id) =>
      operator.service.taskWhen(id, "holds its cluster", ({ status }) => status === "In Progress"),
    ),
  },
  {
    name: "a host enters maintenance mode",
    within: 100,
    reach: running((operator) => operator.ledgerHas("APPLY_STARTED")),
  },
  {
    name: "a host is remediated",
    within: 300,
    reach: running((operator) => operator.ledgerHas("MAINTENANCE_ENTERED", 2)),
  },
  { name: "a host reboots", within: 150, reach: running((operator) => operator.ledgerHas("REMEDIATED")) },
  {
    name: "a host is checked after its remediation",
    within: 60,
    reach: running((operator) => operator.ledgerHas("REBOOTED")),
  },
  {
    name: "one host is done and the next not begun",
    within: 60,
    reach: running((operator) => operator.ledgerHas("MAINTENANCE_EXITED", 2)),
  },
  {
    name: "a management server waits for its switchover",
    within: 500,
    reach: async (operator, key) => {
      const startSwitchoverTimestamp = new Date(Date.now() + 12_000).toISOString();
      const inputs = [{ resourceId: mgmtId, upgradeMechanism: "ReducedDowntimeMigration", startSwitchoverTimestamp }];
      const spec = { ...request({ upgradeNow: true, hostosUpgradeOptionsSpec: undefined }), bundleId: "mgmt" };
      const id = await operator.start({ ...spec, mgmtUpgradeUserInputSpecs: inputs }, key);
      await operator.service.taskWhen(id, "waits for its switchover", (task) =>
        (partsOf(task, "MGMT_SERVER_UPGRADE")[0]?.description ?? "").startsWith("Prepared."),
      );
      return { goOn: () => Promise.resolve(id), ...successful, starts: [] };
    },
  },
  {
    name: "a cancellation is asked for",
    within: 100,
    reach: async (operator, key) => {
      const id = await operator.start(request(), key);
      await operator.ledgerHas("MAINTENANCE_ENTERED");
      void operator.send("DELETE", `/v1/tasks/${id}`);
      return {
        goOn: () => operator.cancel(id).then(() => id),
        ends: "Cancelled",
        // Where the crash has swallowed the request, the next host may begin before it is sent again.
        starts: undefined,
      };
    },
  },
  {
    name: "a retry is asked for",
    within: 100,
    reach: async (operator, key) => {
      const id = await failed(operator, key);
      void operator.send("PATCH", `/v1/tasks/${id}`);
      return { goOn: () => retry(operator, id).then(() => id), ...retried };
    },
  },
  {
    name: "the last host is done and the upgrade not closed",
    within: 100,
    reach: running((operator) => operator.ledgerHas("MAINTENANCE_EXITED", 4)),
  },
  {
    name: "a failed upgrade waits for its operator",
    within: 300,
    reach: async (operator, key) => {
      const id = await failed(operator, key);
      return { goOn: () => retry(operator, id).then(() => id), ...retried };
    },
  },
  { name: "a freeze is not yet answered", within: 60, reach: kept(freeze, "PUT") },
  { name: "all is frozen", within: 2_000, reach: kept(freeze, undefined) },
  { name: "a freeze is lifted", within: 60, reach: kept(freeze, "DELETE") },
  { name: "a hold is not yet answered", within: 60, reach: kept(hold, "PUT") },
  { name: "a cluster is held", within: 2_000, reach: kept(hold, undefined) },
  { name: "a hold is released", within: 60, reach: kept(hold, "DELETE") },
];

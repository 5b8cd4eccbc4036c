import { expect } from "chai";
import type { PageOfTask, Task, TaskStatus } from "../../../src/domain/spec/task";
import type { PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import { mostOutOfService } from "../../support/most-out-of-service";
import { until } from "../../support/service/deployment";
import type { ServiceUnderTest } from "../../support/service/service-under-test";

/** How an upgrade of that cluster has to end. */
export interface Expected {
  readonly id: string;
  readonly task: TaskStatus;
  /** How often the remediation of each host is started, in the order of the hosts; undefined where that is chance. */
  readonly starts: readonly number[] | undefined;
  /** Settings of the cluster before the upgrade. */
  readonly policy: unknown;
  /** Which cluster, by its id at the component manager; default `domain-c34`. */
  readonly cluster?: string;
}

const upgradeStatus: Partial<Record<TaskStatus, string>> = {
  Successful: "COMPLETED_WITH_SUCCESS",
  COMPLETED_WITH_WARNING: "COMPLETED_WITH_SUCCESS",
  SKIPPED: "COMPLETED_WITH_SUCCESS",
  Failed: "COMPLETED_WITH_FAILURE",
  Cancelled: "CANCELLED",
};

/** How Temporal tells of an upgrade that has ended. */
const workflowStatus: Partial<Record<TaskStatus, string>> = { Failed: "FAILED", Cancelled: "CANCELLED" };

/** What must hold of an upgrade after a crash and its recovery; throws what does not. */
export async function expectConsistentEnd(service: ServiceUnderTest, expected: Expected): Promise<void> {
  const { id, cluster = "domain-c34" } = expected;
  const task = await service.task(id);
  expect(task.status, JSON.stringify(task.errors)).to.equal(expected.task);
  await expectOneStory(service, [task]);

  const ledger = await service.ledger();
  const starts = Object.values(await service.remediations());
  if (expected.starts) expect(starts, "how often each host was begun").to.deep.equal(expected.starts);
  else expect(Math.max(...starts), "how often a host was begun").to.equal(1);
  expect(mostOutOfService(ledger, cluster), "hosts out of service at once").to.be.at.most(1);
  expect(overlapping(ledger), "remediations that began before the one before had ended").to.deep.equal([]);

  expect(await service.policy(cluster), "settings of the cluster").to.deep.equal(expected.policy);
  await expectNothingLeft(service);
}

/** No host is left in maintenance mode, no lock and no other Workflow runs. */
export async function expectNothingLeft(service: ServiceUnderTest): Promise<void> {
  const { clusters } = await service.simulated<{ clusters: { hosts: { name: string; maintenance: string }[] }[] }>();
  const left = clusters.flatMap(({ hosts }) => hosts).filter(({ maintenance }) => maintenance !== "OUT");
  expect(left, "hosts that were left in maintenance mode").to.deep.equal([]);
  await until("no lock and no other Workflow is left", async () =>
    service.withTemporal(async (client) => (await client.workflow.count(`ExecutionStatus = "Running"`)).count === 0),
  );
}

/** Task, Upgrade, both lists (by a filter such as `resourceId=…`) and Temporal tell of the same ends, and of each upgrade once. */
export async function expectOneStory(service: ServiceUnderTest, ended: readonly Task[], filter = ""): Promise<void> {
  for (const { id, status } of ended)
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status, id).to.equal(upgradeStatus[status]);
  await until("both lists agree", async () => {
    const upgrades = (await service.get<PageOfUpgrade>(`/v1/upgrades?pageSize=1000&${filter}`)).body.elements ?? [];
    const tasks = (await service.get<PageOfTask>(`/v1/tasks?pageSize=1000&${filter}`)).body.elements ?? [];
    return ended.every(
      ({ id, status }) =>
        upgrades.filter((one) => one.id === id && one.status === upgradeStatus[status]).length === 1 &&
        tasks.filter((one) => one.id === id && one.status === status).length === 1,
    );
  });
  await service.withTemporal(async (client) => {
    for (const { id, status } of ended)
      expect((await client.workflow.getHandle(id).describe()).status.name, id).to.equal(
        workflowStatus[status] ?? "COMPLETED",
      );
  });
}

/** Hosts whose remediation was started while another one of theirs was not over. */
export function overlapping(ledger: readonly { readonly step: string; readonly host?: string }[]): string[] {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const { step, host } of ledger) {
    if (host === undefined) continue;
    if (step === "APPLY_STARTED") {
      if (open.has(host)) wrong.push(host);
      open.add(host);
    }
    if (/^(MAINTENANCE_EXITED|APPLY_FAILED|CANCELLED)$/.test(step)) open.delete(host);
  }
  return wrong;
}

/** How many upgrades the list tells of. */
export async function countUpgrades(service: ServiceUnderTest): Promise<number> {
  const { body } = await service.get<PageOfUpgrade>("/v1/upgrades?pageSize=1");
  return body.pageMetadata?.totalElements ?? 0;
}

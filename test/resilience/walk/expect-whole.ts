import { expect } from "chai";
import type { Stage, SubTask, Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { expectNothingLeft, expectOneStory, overlapping } from "../crash/oracle";
import { mostOutOfService } from "../../support/most-out-of-service";
import type { LedgerEntry, ServiceUnderTest } from "../../support/service/service-under-test";
import type { WalkedCluster } from "./walk-platform";
import type { WalkedUpgrade } from "./walked-upgrade";

/** What was accepted for a cluster. */
export interface Accepted {
  readonly cluster: WalkedCluster;
  readonly upgrades: readonly Pick<WalkedUpgrade, "id" | "explains">[];
  /** The times in which nothing of it may have begun, in epoch milliseconds. */
  readonly still: readonly (readonly [from: number, to: number])[];
}

/** What must hold of all upgrades of a walk when all of them have ended; throws what does not. */
export async function expectWhole(
  service: ServiceUnderTest,
  accepted: readonly Accepted[],
  policies: ReadonlyMap<string, unknown>,
): Promise<void> {
  for (const { cluster, upgrades } of accepted) {
    const ids = upgrades.map(({ id }) => id);
    const tasks = await Promise.all(ids.map((id) => service.task(id)));
    const filter = `resourceId=${cluster.resourceId}`;
    await expectOneStory(service, tasks, filter);
    const listed = (await service.get<PageOfUpgrade>(`/v1/upgrades?pageSize=1000&${filter}`)).body.elements ?? [];
    expect(listed.map(({ id }) => id).sort(), `upgrades of ${cluster.simulated}`).to.deep.equal([...ids].sort());
    const unexplained = tasks.flatMap(({ id, errors = [] }, i) =>
      errors.filter((error) => !upgrades[i]?.explains(error)).map((error) => `${id}: ${JSON.stringify(error)}`),
    );
    expect(unexplained, `errors without a cause: ${unexplained.join("; ")}`).to.be.empty;
    const together = atWorkTogether(tasks);
    expect(together, `upgrades at work in ${cluster.simulated} at the same time: ${together.join("; ")}`).to.be.empty;
  }

  const ledger = await service.ledger();
  expect(overlapping(ledger), "remediations that began before the one before had ended").to.deep.equal([]);
  expect(doneAgain(ledger), "hosts that were brought to a version twice").to.deep.equal([]);
  expect(begunTooOften(ledger), "hosts that were begun oftener than was needed").to.deep.equal([]);
  for (const { cluster, still } of accepted)
    expect(begunWithin(ledger, cluster.simulated, still), "hosts that began although they were held").to.deep.equal([]);
  for (const { simulated } of accepted.map(({ cluster }) => cluster)) {
    expect(mostOutOfService(ledger, simulated), `hosts of ${simulated} out of service at once`).to.be.at.most(1);
    expect(await service.policy(simulated), `settings of ${simulated}`).to.deep.equal(policies.get(simulated));
  }
  await expectNothingLeft(service);
  expect(await service.unsoundHistories(), "histories that are not sound").to.deep.equal([]);
}

/** Upgrades of one cluster of which a stage began before one of another had ended; prechecks may. */
export function atWorkTogether(tasks: readonly Pick<Task, "id" | "subTasks">[]): string[] {
  const worked = tasks
    .flatMap(({ id, subTasks = [] }) =>
      subTasks.filter(({ type }) => type !== "PRECHECKS").map((part) => ({ id, part })),
    )
    .flatMap(({ id, part }) => stagesOf(part).map((stage) => ({ id, ...stage })))
    .sort((a, b) => a.creationTimestamp.localeCompare(b.creationTimestamp));
  return worked.flatMap((stage, i) => {
    const before = worked.slice(0, i).filter(({ id }) => id !== stage.id);
    const together = before.find(({ completionTimestamp: end = "" }) => end > stage.creationTimestamp);
    return together ? [`${together.id} ${together.type}, ${stage.id} ${stage.type}`] : [];
  });
}

function stagesOf({ stages = [], subTasks = [] }: SubTask): readonly Stage[] {
  return [...stages, ...subTasks.flatMap(stagesOf)];
}

/** What of a cluster began in times in which nothing may. */
export function begunWithin(ledger: readonly LedgerEntry[], of: string, times: Accepted["still"]): LedgerEntry[] {
  return ledger.filter(({ step, cluster, at = "" }) => {
    const within = times.some(([from, to]) => from < Date.parse(at) && Date.parse(at) < to);
    return within && cluster === of && step === "APPLY_STARTED";
  });
}

/** Hosts that a version was installed on twice. */
export function doneAgain(ledger: readonly LedgerEntry[]): string[] {
  const done = ledger.filter(({ step }) => step === "REMEDIATED").map(({ host, detail }) => `${host} ${detail}`);
  return done.filter((one, i) => done.indexOf(one) !== i);
}

/** Hosts whose remediation to a version was begun again although it had neither failed nor been cancelled. */
export function begunTooOften(ledger: readonly LedgerEntry[]): string[] {
  const needed = new Map<string, number>();
  const current = new Map<string, string>();
  for (const { step, host, detail } of ledger) {
    if (host === undefined) continue;
    if (step === "APPLY_STARTED") current.set(host, `${host} ${detail}`);
    const key = current.get(host);
    if (key === undefined) continue;
    if (step === "APPLY_STARTED") needed.set(key, (needed.get(key) ?? 1) - 1);
    if (step === "APPLY_FAILED" || step === "CANCELLED") needed.set(key, (needed.get(key) ?? 0) + 1);
  }
  return [...needed].filter(([, left]) => left < 0).map(([what]) => what);
}

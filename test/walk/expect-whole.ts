import { expect } from "chai";
import type { PageOfUpgrade } from "../../src/domain/upgrade";
import { expectNothingLeft, expectOneStory, notReplaying, overlapping } from "../crash/oracle";
import { mostOutOfService } from "../support/most-out-of-service";
import type { LedgerEntry, ServiceUnderTest } from "../system/service-under-test";
import type { WalkedCluster } from "./walk-platform";

/** What was accepted for a cluster. */
export interface Accepted {
  readonly cluster: WalkedCluster;
  readonly upgrades: readonly { readonly id: string; readonly isOutdated: boolean }[];
}

/** What must hold of all upgrades of a walk when all of them have ended; throws what does not. */
export async function expectWhole(
  service: ServiceUnderTest,
  accepted: readonly Accepted[],
  policies: ReadonlyMap<string, unknown>,
): Promise<void> {
  for (const { cluster, upgrades } of accepted) {
    const ids = upgrades.map(({ id }) => id);
    const outdated = new Set(upgrades.filter(({ isOutdated }) => isOutdated).map(({ id }) => id));
    const tasks = await Promise.all(ids.map((id) => service.task(id)));
    const filter = `resourceId=${cluster.resourceId}`;
    await expectOneStory(service, tasks, filter);
    const listed = (await service.get<PageOfUpgrade>(`/v1/upgrades?pageSize=1000&${filter}`)).body.elements ?? [];
    expect(listed.map(({ id }) => id).sort(), `upgrades of ${cluster.simulated}`).to.deep.equal([...ids].sort());
    for (const { id, errors = [] } of tasks)
      for (const { errorCode = "" } of errors)
        expect(causesOf(outdated.has(id)), `errors of ${id}: ${JSON.stringify(errors)}`).to.include(errorCode);
  }

  const ledger = await service.ledger();
  expect(overlapping(ledger), "remediations that began before the one before had ended").to.deep.equal([]);
  expect(doneAgain(ledger), "hosts that were brought to a version twice").to.deep.equal([]);
  expect(begunTooOften(ledger), "hosts that were begun oftener than was needed").to.deep.equal([]);
  for (const { simulated } of accepted.map(({ cluster }) => cluster)) {
    expect(mostOutOfService(ledger, simulated), `hosts of ${simulated} out of service at once`).to.be.at.most(1);
    expect(await service.policy(simulated), `settings of ${simulated}`).to.deep.equal(policies.get(simulated));
  }
  await expectNothingLeft(service);
  expect(await notReplaying(service), "histories that do not replay").to.deep.equal([]);
}

/**
 * What faults of a walk, and operators in each other's way, may make an upgrade fail with. Where a newer version came to
 * the cluster between a draft's prechecks and its commit, the hosts themselves refuse the older one.
 */
const causesOf = (outdated: boolean) => [
  ...["HOST_REMEDIATION_FAILED", "PRECHECKS_FAILED", "RESOURCE_LOCKED"],
  ...(outdated ? ["HOST_INCOMPATIBLE"] : []),
];

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

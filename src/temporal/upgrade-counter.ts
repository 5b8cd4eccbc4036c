import type { Client } from "@temporalio/client";
import type { Logger } from "pino";
import { UpgradeStatus } from "../domain/spec/upgrade";
import { oneLine } from "../startup-error";
import { upgradesQuery, type Visibility, visibilityOf } from "./visibility";

/** What Temporal knows of all upgrades at one moment. */
export interface UpgradeCounts {
  readonly byStatus: Readonly<Record<string, number>>;
  /** 0 without drafts. */
  readonly oldestDraftSeconds: number;
}

interface UpgradeCounterOptions {
  /** Milliseconds that an answer is good for, so that many who scrape cost no more than one. */
  readonly keep: number;
  /** Milliseconds that all of the reading may take. */
  readonly limit: number;
  readonly now: () => number;
}

const defaults: UpgradeCounterOptions = { keep: 10_000, limit: 4_000, now: Date.now };

/** So many drafts are read at once to find the oldest; of more, those are left out that a count shows to be younger. */
const draftsRead = 10;
/** Upgrades cannot be older: it is more than the longest retention that the service sets up. */
const longest = 400 * 24 * 60 * 60 * 1000;

/**
 * Counts upgrades by status in Visibility, at most once in a while. Resolves to undefined, and logs why, where Temporal
 * does not tell in time.
 */
export function upgradeCounter(client: Client, log: Logger, options: Partial<UpgradeCounterOptions> = {}) {
  const { limit, ...rest } = { ...defaults, ...options };
  return cachedCounts(visibilityOf(client, limit), log, { limit, ...rest });
}

/** The same by any Visibility. */
export function cachedCounts(
  visibility: Visibility,
  log: Logger,
  { keep, limit, now }: UpgradeCounterOptions,
): () => Promise<UpgradeCounts | undefined> {
  let last: { readonly until: number; readonly counts: Promise<UpgradeCounts | undefined> } | undefined;
  return () => {
    if (!last || last.until <= now()) {
      const counts = countUpgrades(visibility, now(), now() + limit).catch((error: unknown) => {
        log.warn({ reason: oneLine(error) }, "Could not count the upgrades for the metrics");
        return undefined;
      });
      last = { until: now() + keep, counts };
    }
    return last.counts;
  };
}

async function countUpgrades(visibility: Visibility, now: number, deadline: number): Promise<UpgradeCounts> {
  const statuses = Object.keys(UpgradeStatus.keys) as UpgradeStatus[];
  const counts = await Promise.all(
    statuses.map((status) => visibility.count(upgradesQuery({ status: [status] }), deadline)),
  );
  const byStatus = Object.fromEntries(statuses.map((status, i) => [status, counts[i] ?? 0]));
  const oldest = (byStatus["DRAFT"] ?? 0) === 0 ? undefined : await oldestDraft(visibility, now, deadline);
  return { byStatus, oldestDraftSeconds: oldest === undefined ? 0 : Math.max(0, (now - oldest) / 1000) };
}

/**
 * When the oldest draft was started, in epoch milliseconds. Visibility on SQL cannot sort, so the time before which
 * there are few drafts is found by counting, and those are read.
 */
async function oldestDraft(visibility: Visibility, now: number, deadline: number): Promise<number | undefined> {
  const drafts = upgradesQuery({ status: ["DRAFT"] });
  const before = (time: number) => `${drafts} AND StartTime <= '${new Date(time).toISOString()}'`;
  let [none, some] = [now - longest, now];
  let found = await visibility.count(before(some), deadline);
  while (found > draftsRead && some - none > 1000) {
    const middle = Math.floor((none + some) / 2);
    const count = await visibility.count(before(middle), deadline);
    if (count === 0) none = middle;
    else [some, found] = [middle, count];
  }
  const { executions } = await visibility.list(before(some), draftsRead, undefined, deadline);
  const times = executions.flatMap(({ startTime }) => (startTime ? [Number(startTime.seconds) * 1000] : []));
  return times.length === 0 ? undefined : Math.min(...times);
}

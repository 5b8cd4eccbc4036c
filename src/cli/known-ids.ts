import { PageOfBundle } from "../domain/bundle";
import { PageOfCluster } from "../domain/cluster";
import { largestPage } from "../domain/page";
import { PageOfUpgrade } from "../domain/upgrade";
import type { UpgradeStatus } from "../domain/upgrade-status";
import { ApiClient } from "./api-client";
import type { Surroundings } from "./surroundings";

/** An id that may stand where the cursor is, and what it is the id of. */
export interface KnownId {
  readonly id: string;
  readonly name: string;
}

/** Whoever presses Tab waits no longer for the service (milliseconds). */
const patience = 1500;

/** Commands that take an upgrade, each with the status in which it can be used; the others can be used in several. */
const ofUpgrades: Readonly<Record<string, UpgradeStatus | undefined>> = {
  get: undefined,
  watch: undefined,
  commit: "DRAFT",
  prechecks: "DRAFT",
  reschedule: "SCHEDULED",
  pause: "INPROGRESS",
  resume: "PAUSED",
  cancel: undefined,
  retry: "COMPLETED_WITH_FAILURE",
  resolve: "COMPLETED_WITH_FAILURE",
};

/**
 * The ids that fit where the cursor is, asked of the service. None where no id is wanted, and where the service does not
 * answer at once: a completion must not be in the way. `words`: the command line without the program's name, with the word
 * that has been begun.
 */
export async function knownIds(words: readonly string[], surroundings: Surroundings): Promise<readonly KnownId[]> {
  const [command = "", ...rest] = words;
  const before = rest.at(-2);
  const server = rest[rest.indexOf("--server") + 1];
  const options = { signal: AbortSignal.timeout(patience) };
  try {
    const client = new ApiClient(surroundings, rest.includes("--server") ? server : undefined);
    if (before === "--bundle" || (command === "bundles" && rest.length === 1)) {
      const { elements = [] } = await client.request("GET", "/v1/bundles", PageOfBundle, options);
      return elements.map(({ id, version = "" }) => ({ id, name: version }));
    }
    if (before === "--cluster" || (command === "clusters" && rest.length === 1)) {
      const { elements = [] } = await client.request("GET", "/v1/clusters", PageOfCluster, options);
      return elements.map(({ id, name }) => ({ id, name }));
    }
    if (!(command in ofUpgrades) || rest.length !== 1) return [];
    const status = ofUpgrades[command];
    const filter = new URLSearchParams({ pageSize: `${largestPage}`, ...(status && { status }) });
    const { elements = [] } = await client.request("GET", `/v1/upgrades?${filter.toString()}`, PageOfUpgrade, options);
    return elements.map(({ id, status: now = "", bundle, bundleId = "" }) => ({
      id,
      name: `${now} to ${bundle?.version ?? bundleId}`,
    }));
  } catch {
    return [];
  }
}

import type { Client } from "@temporalio/client";
import * as t from "io-ts";
import { ClusterWork } from "../domain/upgrade/cluster-work";
import { PayloadReader, readAs } from "./describe-workflow";
import { quoted, upgradesQuery, type VisibilityReader } from "./visibility";

/** How many upgrades one forecast reads at most of its clusters, and of any clusters: as many as one call gives. */
const mostUpgrades = 50;
/** Ids in one filter; more would make it longer than Visibility takes. */
const idsPerQuery = 100;
/** A forecast is not worth a longer wait, in milliseconds. */
const timeout = 1000;

const endedWell = upgradesQuery({ phase: ["SUCCEEDED", "SUCCEEDED_WITH_WARNINGS"] });

/** Reads how long clusters took in their last upgrades, from the memos that these have left. */
export class ClusterWorkReader {
  private readonly payloads: PayloadReader;

  constructor(
    client: Client,
    private readonly visibility: VisibilityReader,
  ) {
    this.payloads = new PayloadReader(client.options.loadedDataConverter);
  }

  /** By two calls at most: where one of the clusters has no upgrade behind it, the last ones of others come too. */
  async read(resourceIds: readonly string[]): Promise<readonly ClusterWork[]> {
    const deadline = Date.now() + timeout;
    // Visibility on SQLite fails where it is asked for a quotation mark in a list.
    const ids = resourceIds.filter((id) => !id.includes('"')).slice(0, idsPerQuery);
    if (ids.length === 0) return [];
    const found = new Map<string, readonly ClusterWork[]>();
    await this.add(found, `${endedWell} AND ResourceIds IN (${ids.map(quoted).join(", ")})`, deadline);
    const known = new Set([...found.values()].flat().map(({ resourceId }) => resourceId));
    if (resourceIds.some((id) => !known.has(id))) await this.add(found, endedWell, deadline);
    return [...found.values()].flat();
  }

  private async add(found: Map<string, readonly ClusterWork[]>, query: string, deadline: number): Promise<void> {
    for (const { execution, memo } of await this.visibility.read(query, 0, mostUpgrades, deadline)) {
      // An upgrade whose key is missing tells nothing.
      const stored = await this.payloads.field(memo, "work").catch(() => undefined);
      found.set(execution?.workflowId ?? "", readAs(t.array(ClusterWork), stored) ?? []);
    }
  }
}

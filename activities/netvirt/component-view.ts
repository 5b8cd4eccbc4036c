import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/errors";
import {
  type NetvirtComponentType,
  type NetvirtNodeState,
  NetvirtProgress,
} from "../../src/domain/task/netvirt-upgrade";
import { toTimestamp } from "../../src/domain/timestamp";
import { bounded, DriverError } from "../drivers/driver-error";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { GroupStatus, UnitGroup } from "../drivers/nsx/nsx-models";
import type { RetryPolicy } from "../retry-policy";
import { nameOf } from "./netvirt-settings";
import { listGroups, nodeStateOf } from "./read-netvirt-upgrade";

/** A node that this upgrade is to upgrade. */
export interface ViewedNode extends NetvirtNodeState {
  readonly name: string;
}

/** One look at a component in the coordinator. */
export interface ComponentView {
  /** Of all components together; lags behind the component's own. */
  readonly overall: string;
  readonly status: string;
  readonly percent: number;
  readonly details: string;
  /** Nodes of groups that are enabled. */
  readonly nodes: readonly ViewedNode[];
}

interface GroupNodes {
  readonly seen: string;
  readonly nodes: readonly NetvirtNodeState[];
}

/** Looks at one component again and again; only groups that have moved are read node by node. */
export class ComponentLook {
  readonly #client: NsxClient;
  readonly #component: NetvirtComponentType;
  readonly #retryPolicy: RetryPolicy;
  readonly #known = new Map<string, GroupNodes>();
  #groups: readonly UnitGroup[] | undefined;

  constructor(client: NsxClient, retryPolicy: RetryPolicy, component: NetvirtComponentType) {
    this.#client = client;
    this.#component = component;
    this.#retryPolicy = retryPolicy;
  }

  async now(): Promise<ComponentView> {
    const client = this.#client;
    this.#groups ??= await listGroups(client, this.#retryPolicy, this.#component);
    const enabled = this.#groups.filter((group) => group.enabled !== false);
    const nodes: ViewedNode[] = [];
    if (enabled.length > 0) {
      const statuses = await this.#retryPolicy.retry(() => client.listGroupStatuses(this.#component));
      for (const group of enabled) {
        const status = statuses.find(({ group_id }) => group_id === group.id);
        const names = new Map((group.upgrade_units ?? []).map((unit) => [unit.id, nameOf(unit)]));
        const states = await this.#readNodes(group.id, status);
        nodes.push(...states.map((node) => ({ ...node, name: names.get(node.id) ?? node.id })));
      }
    }
    // Read last: where it says that the component has ended, the nodes above are not younger than that.
    const status = await this.#retryPolicy.retry(() => client.readStatus());
    const own = status.component_status.find(({ component_type }) => component_type === this.#component);
    if (!own) throw notListed(client.id, this.#component);
    return {
      overall: status.overall_upgrade_status,
      status: own.status,
      percent: own.percent_complete ?? 0,
      details: own.details ?? "",
      nodes,
    };
  }

  /** Drops what is known of groups and nodes, so that the next look reads all of it again. */
  forget(): void {
    this.#known.clear();
    this.#groups = undefined;
  }

  async #readNodes(group: string, status: GroupStatus | undefined): Promise<readonly NetvirtNodeState[]> {
    const seen = JSON.stringify([status?.status, status?.percent_complete, status?.failed_count]);
    const known = this.#known.get(group);
    // Percentages are coarse: nodes of a group in work move without it.
    const moves = status?.status === "IN_PROGRESS" || status?.status === "PAUSING";
    if (known?.seen === seen && !moves) return known.nodes;
    const units = await this.#retryPolicy.retry(() => this.#client.listUnitStatuses(group));
    const nodes = units.map(nodeStateOf);
    this.#known.set(group, { seen, nodes });
    return nodes;
  }
}

function notListed(managerId: string, component: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "NETVIRT_COMPONENT_MISSING",
    message: `The upgrade coordinator of ${managerId} does not list component ${component}.`,
    remediation: "Check that the coordinator is upgraded and has the bundle of the target version, then retry.",
  });
}

/** Nodes that a heartbeat holds, and those of them whose errors it does; heartbeats are kept by the server. */
const maximumNodes = 500;
const maximumErrors = 20;

/**
 * What earlier runs have left: the heartbeat details of this Activity or what the Workflow was told of a lost one,
 * whichever knows of more failures. Undefined where this is the first run.
 */
export function knownProgress(
  heartbeatDetails: unknown,
  resume: NetvirtProgress | undefined,
): NetvirtProgress | undefined {
  const decoded = NetvirtProgress.decode(heartbeatDetails);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  return resume.reportedFailures > own.reportedFailures ? resume : own;
}

/** The progress of one component's upgrade while the Activity runs; every change is told at once. */
export class ComponentProgressTracker {
  #progress: NetvirtProgress;
  readonly #beat: (progress: NetvirtProgress) => void;

  constructor(
    component: NetvirtComponentType,
    known: NetvirtProgress | undefined,
    maximumAttempts: number,
    beat: (progress: NetvirtProgress) => void,
  ) {
    this.#beat = beat;
    this.#progress = {
      ...(known ?? { component, reportedFailures: 0, activity: "Starting.", percent: 0, nodes: [] }),
      maximumAttempts,
    };
  }

  get current(): NetvirtProgress {
    return this.#progress;
  }

  /** Whether this attempt may have asked the coordinator for the upgrade. */
  get requested(): boolean {
    return this.#progress.requestedAt !== undefined;
  }

  show({ percent, nodes }: ComponentView, activity: string): void {
    this.#change({ percent, nodes: shortened(nodes), activity: bounded(activity, 300) });
  }

  /** Tells the operator what goes on. */
  note(activity: string): void {
    this.#change({ activity: bounded(activity, 300) });
  }

  /** Before the upgrade is asked for, at `now`: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedFrom: string, now: number): void {
    const requestedAt = toTimestamp(now);
    this.#change({ requestedAt, requestedFrom, accepted: false, activity: "Requesting the upgrade." });
  }

  accept(): void {
    this.#change({ accepted: true });
  }

  /** The attempt has failed. `counted` where the coordinator reported it: the next attempt then begins anew. */
  fail(error: ErrorBody, counted: boolean): void {
    const { requestedAt, requestedFrom, accepted, ...rest } = this.#progress;
    this.#progress = {
      ...rest,
      ...(!counted && requestedAt !== undefined && { requestedAt }),
      ...(!counted && requestedFrom !== undefined && { requestedFrom }),
      ...(!counted && accepted !== undefined && { accepted }),
      reportedFailures: rest.reportedFailures + (counted ? 1 : 0),
      activity: bounded(error.message, 300),
      lastError: error,
    };
    this.#beat(this.#progress);
  }

  #change(change: Partial<NetvirtProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#beat(this.#progress);
  }
}

const order: Readonly<Record<NetvirtNodeState["status"], number>> = {
  FAILED: 0,
  IN_PROGRESS: 1,
  SUCCESS: 2,
  NOT_STARTED: 3,
};

/** Those that have begun, the ones that matter most first. */
function shortened(nodes: ComponentView["nodes"]): NetvirtNodeState[] {
  return nodes
    .filter(({ status }) => status !== "NOT_STARTED")
    .sort((a, b) => order[a.status] - order[b.status])
    .slice(0, maximumNodes)
    .map(({ id, status, percent, error }, i) => ({
      id,
      status,
      percent,
      ...(error !== undefined && i < maximumErrors && { error }),
    }));
}

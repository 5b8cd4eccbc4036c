import type { NetvirtComponentType, NetvirtNodeState } from "../../src/domain/netvirt-upgrade";
import { DriverError } from "../drivers/driver-error";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { GroupStatus, UnitGroup } from "../drivers/nsx/nsx-models";
import type { RetryPolicy } from "../retry-policy";
import { nameOf } from "./included-groups";
import { nodeStateOf } from "./node-state";
import { listGroups } from "./read-netvirt-upgrade";

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

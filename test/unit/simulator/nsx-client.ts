import type { NsxManager } from "../../../src/simulator/nsx/nsx-state";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { type Answer, testConfig } from "./simulator-client";

export const nsxVersions = { old: "9.0.0.0.24733065", target: "9.0.1.0.24952111" } as const;

/** A configuration with one NETVIRT manager: 3 nodes, 2 edge clusters of 2, and 2 host clusters of the inventory. */
export function nsxConfig(over: { hosts?: number; clusters?: number; manager?: object } = {}) {
  const { hosts = 12, clusters = 2, manager = {} } = over;
  const names = Array.from({ length: clusters }, (_, i) => `cl0${i + 1}`);
  return testConfig({
    clusters: names.map((name) => ({ name, hosts, hostNames: `${name}-esx-{nn}` })),
    nsxManagers: [
      {
        id: "nsx-01",
        version: nsxVersions.old,
        targetVersion: nsxVersions.target,
        nodeNames: "mgr-{nn}",
        edgeClusters: [
          { id: "edge-1", name: "edges-1", nodes: 2, nodeNames: "edge-{nn}" },
          { id: "edge-2", name: "edges-2", nodes: 2, nodeNames: "edge-{nn}", firstNode: 3 },
        ],
        hostClusters: names.map((name) => ({ cluster: name, id: `hosts-${name}` })),
        ...manager,
      },
    ],
  });
}

/** Speaks the coordinator's API of the simulator for tests, and its control API. */
export class NsxTestClient {
  constructor(
    readonly url: string,
    private readonly root = "/nsx/nsx-01",
    private readonly authorization: string | undefined = `Basic ${btoa("svc:secret")}`,
  ) {}

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.send(method, `${this.root}/api/v1/upgrade${path}`, body);
  }

  start(component: string): Promise<Answer> {
    return this.call("POST", `/plan?action=upgrade&component_type=${component}`);
  }

  /** Changes a group by its current revision. */
  async setGroup(id: string, change: object): Promise<Answer> {
    const { body } = await this.call("GET", `/upgrade-unit-groups/${id}`);
    return this.call("PUT", `/upgrade-unit-groups/${id}`, { ...(body as object), ...change });
  }

  async status(component: string): Promise<{ overall: string; status: string; percent: number }> {
    const { body } = await this.call("GET", `/status-summary?component_type=${component}`);
    const { overall_upgrade_status, component_status } = body as {
      overall_upgrade_status: string;
      component_status: { status: string; percent_complete: number }[];
    };
    const [own] = component_status;
    return { overall: overall_upgrade_status, status: own?.status ?? "", percent: own?.percent_complete ?? -1 };
  }

  async units(group: string): Promise<{ display_name: string; status: string; errors: string[] }[]> {
    const { body } = await this.call("GET", `/upgrade-unit-groups/${group}/status`);
    return (body as { results: { display_name: string; status: string; errors: string[] }[] }).results;
  }

  async manager(): Promise<NsxManager> {
    return ((await this.send("GET", "/simulator/state")).body as { nsxManagers: NsxManager[] }).nsxManagers[0]!;
  }

  async ledger(step?: string): Promise<LedgerEntry[]> {
    return (await this.send("GET", `/simulator/ledger${step ? `?step=${step}` : ""}`)).body as LedgerEntry[];
  }

  async fault(fault: object): Promise<string> {
    const { status, body } = await this.send("POST", "/simulator/faults", fault);
    if (status !== 201) throw new Error(`fault refused: ${JSON.stringify(body)}`);
    return (body as { id: string }).id;
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(this.authorization !== undefined && { authorization: this.authorization }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  }
}

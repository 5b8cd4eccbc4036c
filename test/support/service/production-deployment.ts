import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { KeptAlive } from "../../e2e/production/kept-alive";
import { temporalCluster, type TemporalCluster } from "../../e2e/production/temporal-cluster";
import {
  freePorts,
  withoutTemporal,
  type Deployment,
  type LogLine,
  type ProcessName,
  type TemporalPlace,
} from "./deployment";

type Environment = Readonly<Record<string, string>>;

const root = resolve(__dirname, "../../..");

/** How many processes of a role there are, and what they use to reach the others. */
export interface ProductionShape {
  readonly apis: number;
  readonly workers: number;
  /** More environment for each role, or for each worker, from where Temporal (`host:port`) and the simulator (a port) are. */
  readonly through?: (
    temporal: string,
    simulator: number,
  ) => Promise<{ readonly api: Environment; readonly worker: Environment | readonly Environment[] }>;
}

/**
 * By default two API processes and three workers on a Temporal server on PostgreSQL, and a simulator; each is started again when
 * it ends. Deployments of one test run share the server, each in a namespace of its own.
 */
export class ProductionDeployment implements Deployment {
  readonly apiUrls: readonly string[];
  readonly simulatorUrl: string;
  readonly temporalUiUrl = undefined;
  private readonly roles: Readonly<Record<"simulator" | "worker" | "api", readonly KeptAlive[]>>;

  private constructor(
    private readonly cluster: TemporalCluster,
    readonly temporal: TemporalPlace,
    private readonly folder: string,
    apiPorts: readonly number[],
    simulatorPort: number,
    {
      workers,
      own,
      main,
    }: {
      readonly workers: number;
      readonly own: Readonly<Partial<Record<string, Environment | readonly Environment[]>>>;
      readonly main: string;
    },
    variables: Environment,
  ) {
    this.apiUrls = apiPorts.map((port) => `http://127.0.0.1:${port}`);
    this.simulatorUrl = `http://127.0.0.1:${simulatorPort}`;
    const role = (name: string, number: number, more: Record<string, string> = {}) =>
      new KeptAlive({
        what: `${name} ${number}`,
        program: process.execPath,
        args: [main, name],
        options: {
          cwd: folder,
          env: {
            ...withoutTemporal(process.env),
            TEMPORAL_ADDRESS: temporal.address,
            TEMPORAL_NAMESPACE: temporal.namespace,
            ...cluster.certificates.client,
            SIMULATOR_PORT: String(simulatorPort),
            DATA_DIR: join(folder, `${name}-${number}`),
            ...more,
            ...variables,
            ...[own[name] ?? {}].flat()[Array.isArray(own[name]) ? number - 1 : 0],
          },
        },
        saysReady: (message) => isReady(message),
      });
    this.roles = {
      simulator: [role("simulator", 1)],
      worker: Array.from({ length: workers }, (_, i) => role("worker", i + 1)),
      api: apiPorts.map((port, i) => role("api", i + 1, { API_PORT: String(port) })),
    };
  }

  /** A deployment that is not yet started. */
  static async prepare(
    variables: Environment,
    { apis, workers, through }: ProductionShape = { apis: 2, workers: 3 },
  ): Promise<ProductionDeployment> {
    const cluster = await temporalCluster();
    const { address, certificates } = cluster;
    const temporal = { address, namespace: await cluster.makeNamespace(), tls: certificates.tls };
    const { simulator } = await freePorts("simulator");
    const apiPorts = Object.values(await freePorts(...Array.from({ length: apis }, (_, i) => `api ${i}`)));
    const own = (await through?.(address, simulator)) ?? {};
    const folder = mkdtempSync(join(tmpdir(), "ums-roles-"));
    const shape = { workers, own, main: join(root, "dist/src/main.js") };
    return new ProductionDeployment(cluster, temporal, folder, apiPorts, simulator, shape, variables);
  }

  get printed(): string {
    return this.all()
      .map(({ output }) => output)
      .join("");
  }

  async start(): Promise<void> {
    await Promise.all(this.all().map((role) => role.start()));
  }

  processes(): Partial<Record<ProcessName, readonly number[]>> {
    const { postgresql, server } = this.cluster;
    const running = Object.entries({ ...this.roles, postgresql: [postgresql], temporalServer: [server] });
    return Object.fromEntries(running.map(([name, roles]) => [name, roles.flatMap(({ pid }) => pid ?? [])]));
  }

  log(role: "api" | "worker"): LogLine[] {
    const lines = this.roles[role].flatMap(({ output }) => output.trim().split("\n"));
    return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const codes = [];
    for (const roles of [this.roles.api, this.roles.worker, this.roles.simulator])
      codes.push(...(await Promise.all(roles.map((role) => role.stop(signal)))));
    return codes.find((code) => code !== 0) ?? 0;
  }

  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private all(): readonly KeptAlive[] {
    return Object.values(this.roles).flat();
  }
}

function isReady(message: unknown): boolean {
  return typeof message === "object" && message !== null && "type" in message && message.type === "ready";
}

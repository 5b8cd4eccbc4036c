import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { Connection, type TLSConfig } from "@temporalio/client";
import { freePorts } from "../../support/service/deployment";
import { KeptAlive } from "./kept-alive";
import { temporalCertificates, type TemporalCertificates } from "./temporal-certificates";

const root = resolve(__dirname, "../../..");
const setup = join(root, "config/temporal");
const host = "127.0.0.1";
/** Where this runs as root, PostgreSQL needs another user: the one that owns nothing. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folders of the programs, which `npm test -- e2e/production` finds or makes. */
export function folderOf(variable: "POSTGRESQL" | "POSTGRESQL_CLIENTS" | "TEMPORAL_SERVER"): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error(`${variable} is not set: run these tests by npm test -- e2e/production`);
  return folder;
}

/**
 * PostgreSQL and the Temporal server on it, made and started by the files with which docker-compose.yml does it. Both
 * are started again when they end.
 */
export class TemporalCluster {
  private namespaces = 0;

  private constructor(
    private readonly folder: string,
    readonly address: string,
    /** What a client needs, because nobody is let in without a certificate. */
    readonly certificates: TemporalCertificates,
    readonly postgresql: KeptAlive,
    readonly server: KeptAlive,
    /** Where the server tells its metrics. */
    readonly metricsUrl: string,
    /** What the scripts of deploy/postgresql read. */
    readonly database: Readonly<Record<"PGHOST" | "PGPORT" | "POSTGRES_PASSWORD_FILE", string>>,
  ) {}

  /** `databasePort`: at which port the server reaches the database that listens at the given one; default: at that. */
  static async start(databasePort: PortBefore = (port) => Promise.resolve(port)): Promise<TemporalCluster> {
    const folder = mkdtempSync(join(tmpdir(), "ums-production-"));
    const own = { folder, passwordFile: join(folder, "password"), port: (await freePorts("port")).port };
    // Both the database's user and ours read it.
    writeFileSync(own.passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600 });
    if (nobody.uid !== undefined)
      for (const path of [folder, own.passwordFile]) chownSync(path, nobody.uid, nobody.gid);
    const postgresql = await startPostgresql(own);
    const environment = {
      PATH: `${folderOf("TEMPORAL_SERVER")}:/usr/bin:/bin`,
      POSTGRES_PASSWORD_FILE: own.passwordFile,
    };
    await promisify(execFile)("sh", [join(setup, "setup-schema.sh")], {
      env: { ...environment, SQL_HOST: host, SQL_PORT: String(own.port), SQL_USER: "temporal" },
    });
    const certificates = await temporalCertificates(folder);
    const database = { POSTGRES_SEEDS: host, DB_PORT: String(await databasePort(own.port)) };
    const { address, server, metricsUrl } = await startServer({ ...environment, ...database }, certificates);
    return new TemporalCluster(folder, address, certificates, postgresql, server, metricsUrl, {
      PGHOST: host,
      PGPORT: String(own.port),
      POSTGRES_PASSWORD_FILE: own.passwordFile,
    });
  }

  /** Makes a namespace with what upgrades need; gives its name. */
  async makeNamespace(): Promise<string> {
    const name = `upgrades-${++this.namespaces}`;
    const cli = process.env["TEMPORAL_CLI_PATH"] ?? "temporal";
    await promisify(execFile)("sh", [join(setup, "setup-namespace.sh")], {
      env: {
        PATH: "/usr/bin:/bin",
        HOME: this.folder,
        TEMPORAL_ADDRESS: this.address,
        TEMPORAL_NAMESPACE: name,
        TEMPORAL_CLI_PATH: cli,
        ...this.certificates.client,
      },
    });
    return name;
  }

  async discard(): Promise<void> {
    await this.server.stop();
    await this.postgresql.stop("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Puts something before a port; gives the port of that. */
type PortBefore = (port: number) => Promise<number>;

interface Database {
  readonly folder: string;
  readonly passwordFile: string;
  readonly port: number;
}

async function startPostgresql({ folder, passwordFile, port }: Database): Promise<KeptAlive> {
  const programs = join(folder, "postgresql");
  const data = join(folder, "data");
  // Its user need not be able to read our cache.
  cpSync(folderOf("POSTGRESQL"), programs, { recursive: true });
  mkdirSync(data, { mode: 0o700 });
  if (nobody.uid !== undefined) chownSync(data, nobody.uid, nobody.gid);
  const initdb = ["-D", data, "-U", "temporal", "-A", "scram-sha-256", "--pwfile", passwordFile, "-E", "UTF8"];
  await promisify(execFile)(join(programs, "bin/initdb"), initdb, { ...nobody, cwd: folder });
  const settings = [`listen_addresses=${host}`, `port=${port}`, `unix_socket_directories=${folder}`];
  const postgresql = new KeptAlive({
    what: "PostgreSQL",
    program: join(programs, "bin/postgres"),
    args: ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
    options: { ...nobody, cwd: folder },
    isUp: () => listens(port),
  });
  await postgresql.start();
  return postgresql;
}

async function startServer(environment: NodeJS.ProcessEnv, certificates: TemporalCertificates) {
  const services = ["FRONTEND", "HISTORY", "MATCHING", "WORKER"] as const;
  const ports = await freePorts(
    "METRICS",
    "FRONTEND_HTTP_PORT",
    ...services.flatMap((service) => [`${service}_GRPC_PORT`, `${service}_MEMBERSHIP_PORT`] as const),
  );
  const metrics = `${host}:${ports.METRICS}`;
  const server = new KeptAlive({
    what: "the Temporal server",
    program: "sh",
    args: [join(setup, "start-server.sh")],
    options: {
      cwd: setup,
      env: {
        ...settingsOf(join(setup, "server.env")),
        ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
        ...environment,
        ...certificates.server,
        BIND_ON_IP: host,
        PROMETHEUS_ENDPOINT: metrics,
        DYNAMIC_CONFIG_FILE_PATH: join(setup, "dynamic-config.yaml"),
      },
    },
    isUp: () => answers(address, certificates.tls),
  });
  const address = `${host}:${ports.FRONTEND_GRPC_PORT}`;
  await server.start();
  return { address, server, metricsUrl: `http://${metrics}/metrics` };
}

function listens(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = createConnection({ host, port }, () => {
      socket.destroy();
      answer(true);
    });
    socket.once("error", () => answer(false));
  });
}

/** Whether a Temporal server answers. */
async function answers(address: string, tls: TLSConfig): Promise<boolean> {
  const connection = Connection.lazy({ address, tls, interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + 1_000, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

/** `NAME=value` lines, as docker compose reads an env_file. */
function settingsOf(file: string): Record<string, string> {
  const lines = readFileSync(file, "utf8").matchAll(/^(\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name = "", value = ""]) => [name, value]));
}

let cluster: Promise<TemporalCluster> | undefined;

/** The one cluster of a test run, started by whoever asks first, who may put something before its database. */
export function temporalCluster(databasePort?: PortBefore): Promise<TemporalCluster> {
  cluster ??= TemporalCluster.start(databasePort);
  return cluster;
}

/** Mocha ends it after the last test. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context) {
    this.timeout(60_000);
    await (await cluster?.catch(() => undefined))?.discard();
  },
};

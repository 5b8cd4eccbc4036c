import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { parse } from "yaml";
import { stopMilliseconds } from "../../../src/commands/messages";
import { readConfig } from "../../../src/config";
import { environmentOf, exampleSettings, interpolated, readCompose } from "../../support/compose-services";
import { knownVariables, settingsOfOperators } from "../../support/known-variables";

const root = resolve(__dirname, "../../..");
const text = readFileSync(join(root, "docker-compose.yml"), "utf8");

const { services, secrets, volumes, networks } = readCompose();
const ours = ["api", "worker", "simulator"];
const jobs = ["temporal-schema", "temporal-namespace"];

describe("docker-compose.yml", () => {
  it("starts the database, its schema, the server, its namespace and then what needs them", () => {
    const order = Object.fromEntries(
      Object.entries(services).map(([name, { depends_on = {} }]) => [
        name,
        Object.entries(depends_on).map(([needed, { condition }]) => `${needed} ${condition}`),
      ]),
    );
    expect(order).to.deep.equal({
      postgresql: [],
      "temporal-schema": ["postgresql service_healthy"],
      temporal: ["postgresql service_healthy", "temporal-schema service_completed_successfully"],
      "temporal-namespace": ["temporal service_healthy"],
      "temporal-ui": ["temporal service_healthy"],
      worker: ["temporal-namespace service_completed_successfully"],
      api: ["temporal-namespace service_completed_successfully"],
      simulator: [],
    });
  });

  it("has a health check on everything that keeps running, and starts it again when it ends", () => {
    for (const [name, { healthcheck, restart }] of Object.entries(services)) {
      expect(healthcheck !== undefined, name).to.equal(!jobs.includes(name));
      expect(restart, name).to.equal(jobs.includes(name) ? "on-failure:5" : "unless-stopped");
    }
  });

  it("pins every image to a release", () => {
    for (const [name, { image }] of Object.entries(services))
      expect(image, name).to.match(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
    expect(readFileSync(join(root, "Dockerfile"), "utf8").match(/^FROM \S+/gm)).to.satisfy((from: string[]) =>
      from.every((line) => /^FROM node:20\.\d+\.\d+-[\w-]*slim$/.test(line)),
    );
  });

  it("publishes ports on the loopback address only, unless the operator says otherwise for the API", () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports.map((port) => interpolated(port)));
    expect(published).to.have.members(["127.0.0.1:7233:7233", "127.0.0.1:8233:8080", "127.0.0.1:8443:8443"]);
    for (const [name, { network_mode }] of Object.entries(services)) expect(network_mode, name).to.equal(undefined);
  });

  it("lets nobody but the Temporal server and its schema job reach the database", () => {
    expect(networks).to.deep.equal({ database: { internal: true } });
    const inside = Object.entries(services).filter(([, service]) => service.networks?.includes("database"));
    expect(inside.map(([name]) => name)).to.have.members(["postgresql", "temporal-schema", "temporal"]);
    expect(services["postgresql"]?.networks).to.deep.equal(["database"]);
  });

  it("runs nothing as root, nothing that could become it, and nothing that can write to its image", () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service.user, name).to.match(/^[1-9]\d*:[1-9]\d*$/);
      expect(service.read_only, name).to.equal(true);
      expect(service.cap_drop, name).to.deep.equal(["ALL"]);
      expect(service.security_opt, name).to.deep.equal(["no-new-privileges:true"]);
      expect(service.privileged, name).to.equal(undefined);
      expect(service.tmpfs, name).to.include("/tmp");
    }
  });

  it("bounds processors, memory and processes of everything, and the heap of Node below its memory", () => {
    const mebibytes = (size: string) => Number(size.slice(0, -1)) * (size.endsWith("G") ? 1024 : 1);
    for (const [name, service] of Object.entries(services)) {
      const limits = service.deploy?.resources?.limits ?? {};
      // Beside these limits Compose takes none of the older settings, such as pids_limit.
      expect(limits, name).to.have.all.keys("cpus", "memory", "pids");
      expect(service, name).not.to.have.any.keys("pids_limit", "mem_limit", "cpus");
      const heap = /--max-old-space-size=(\d+)/.exec(service.environment?.["NODE_OPTIONS"] ?? "")?.[1];
      if (heap !== undefined) expect(Number(heap), name).to.be.below(0.8 * mebibytes(String(limits["memory"])));
    }
  });

  it("builds its image in one service, and pulls it in none", () => {
    const ofOurImage = Object.entries(services).filter(([, { image }]) => image === services["api"]?.image);
    expect(ofOurImage.map(([name]) => name)).to.have.members(ours);
    for (const [name, { build, pull_policy }] of Object.entries(services)) {
      expect(build !== undefined, name).to.equal(name === "api");
      if (ours.includes(name) && name !== "api") expect(pull_policy, name).to.equal("never");
    }
  });

  it("takes a proxy and certificates for the build, which are arguments of the Dockerfile or of every build", () => {
    const { args = {} } = services["api"]?.build ?? {};
    expect(Object.keys(args)).to.have.members(["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "BUILD_CA_CERTS"]);
    expect(readFileSync(join(root, "Dockerfile"), "utf8")).to.match(/^ARG BUILD_CA_CERTS$/m);
  });

  it("hides no folder of an image behind an empty one", () => {
    const empty = Object.values(services).flatMap(({ tmpfs = [] }) => tmpfs.map((mount) => mount.split(":")[0]));
    expect([...new Set(empty)]).to.have.members(["/tmp", "/data", "/var/run/postgresql"]);
  });

  it("leaves no anonymous volume behind: each role has its /data in memory or in a volume with a name", () => {
    expect(readFileSync(join(root, "Dockerfile"), "utf8")).not.to.match(/^VOLUME/m);
    for (const name of ours) {
      const { tmpfs = [], volumes: mounts = [] } = services[name] ?? {};
      const named = mounts.some((mount) => mount === `${name}:/data`);
      expect(named !== tmpfs.includes("/data"), name).to.equal(true);
    }
  });

  it("ends its jobs when they are told to, and needs no DNS for the one that asks the Temporal server", () => {
    for (const job of jobs) expect(services[job]?.init, job).to.equal(true);
    expect(services["temporal-namespace"]?.environment).to.include({
      TEMPORAL_ADDRESS: "passthrough:///temporal:7233",
    });
  });

  it("keeps the number of workers that an operator has set", () => {
    const replicas = String(services["worker"]?.deploy?.replicas);
    expect([interpolated(replicas), interpolated(replicas, { WORKERS: "4" })]).to.deep.equal(["2", "4"]);
  });

  it("lets the database have as many connections as the Temporal server may open, and its role no more than it needs", () => {
    const settings = readFileSync(join(root, "config/temporal/server.env"), "utf8");
    const most = [...settings.matchAll(/^SQL_(?:VIS_)?MAX_CONNS=(\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
    const allowed = /max_connections=(\d+)/.exec(services["postgresql"]?.command?.join(" ") ?? "")?.[1];
    // Its frontend, history, matching and worker have pools of their own; some are left for backups and people.
    expect(Number(allowed)).to.be.at.least(4 * most + 20);
    expect(services["postgresql"]?.environment).not.to.have.property("POSTGRES_USER");
    const script = readFileSync(join(root, "deploy/postgresql/make-role.sh"), "utf8");
    expect(script).to.match(/^CREATE ROLE temporal LOGIN CREATEDB PASSWORD :'password';$/m);
    expect(script).to.match(/^ALTER ROLE postgres PASSWORD NULL;$/m);
  });

  it("keeps what must last in named volumes, and mounts everything else for reading only", () => {
    const mounts = Object.values(services).flatMap((service) => service.volumes ?? []);
    const named = mounts.filter((mount) => !mount.startsWith("./"));
    expect(named.map((mount) => mount.split(":")[0])).to.have.members(Object.keys(volumes));
    for (const mount of mounts.filter((mount) => mount.startsWith("./"))) expect(mount).to.match(/:ro$/);
  });

  it("reads every secret from a file that there is not by itself", () => {
    expect(secrets).to.deep.equal({
      "postgres-password": { file: "${POSTGRES_PASSWORD_FILE:-./secrets/postgres-password}" },
      "payload-keys": { file: "./secrets/payload-keys.yaml" },
    });
    for (const name of ["postgresql", "temporal-schema", "temporal"]) {
      expect(services[name]?.secrets, name).to.deep.equal(["postgres-password"]);
      expect(services[name]?.environment).to.include({ POSTGRES_PASSWORD_FILE: "/run/secrets/postgres-password" });
    }
    for (const name of ["api", "worker"]) expect(services[name]?.secrets, name).to.deep.equal(["payload-keys"]);
    const given = Object.values(services).flatMap((service) => Object.entries(environmentOf(service)));
    const secret = given.filter(([name]) => /PASSWORD|PWD|SECRET|_TOKEN$|_KEY$|SIGNING/.test(name));
    for (const [name, value] of secret)
      expect(name.endsWith("_FILE") || ["", "false"].includes(value), name).to.equal(true);
    expect(readFileSync(join(root, ".gitignore"), "utf8")).to.match(/^secrets\/$/m);
  });

  it("gives API and worker only variables that they know, and all that an operator has to set", () => {
    const known = knownVariables();
    for (const name of ours)
      expect([...known], name).to.include.members(Object.keys(services[name]?.environment ?? {}));
    const { both, api, worker } = settingsOfOperators;
    expect(services["api"]?.environment).to.include.all.keys(...both, ...api);
    expect(services["worker"]?.environment).to.include.all.keys(...both, ...worker);
  });

  it("gives them a configuration that they take: TLS and logins by itself, also with all that example.env has", () => {
    const all = Object.fromEntries([...exampleSettings()].map(([name, line]) => [name, line.slice(name.length + 1)]));
    for (const name of ours)
      for (const variables of [{}, all]) {
        const environment = Object.entries(environmentOf(services[name] ?? { image: "" }, variables));
        // These files are read at once, and are not on this machine.
        const withoutFiles = environment.filter(([variable]) => !/^TEMPORAL_(TLS_.*_PATH|CONFIG_FILE)$/.test(variable));
        const config = readConfig(Object.fromEntries(withoutFiles));
        if (E.isLeft(config)) expect.fail(`${name}: ${config.left.join(" ")}`);
        if (name !== "api") continue;
        expect(config.right.api).to.deep.include({ host: "0.0.0.0", port: 8443 });
        expect(config.right.api.tls?.certFile).to.equal("/run/api-secrets/tls.crt");
        expect(config.right.authentication.mode).to.equal(variables === all ? "oidc" : "local");
        expect(config.right.payloadKeysFile).to.equal("/run/secrets/payload-keys");
      }
    const read = new Set(text.match(/(?<=\$\{)\w+/g));
    expect(Object.keys(all)).to.have.members([...read]);
  });

  it("lets an operator set limits and waits of all roles in one file, which need not be there", () => {
    for (const name of ours)
      expect(services[name]?.env_file, name).to.deep.equal([{ path: "config/service.env", required: false }]);
    expect(existsSync(join(root, "config/service.env"))).to.equal(false);
  });

  it("can be told not to encrypt", () => {
    const environment = environmentOf(services["worker"] ?? { image: "" }, { PAYLOAD_KEYS_FILE: "" });
    const config = readConfig(environment);
    expect(E.isRight(config) && config.right.payloadKeysFile === undefined).to.equal(true);
  });

  it("lets each role end in good order before it is killed", () => {
    for (const name of ["api", "worker", "simulator"] as const) {
      const seconds = Number(/^(\d+)s$/.exec(services[name]?.stop_grace_period ?? "")?.[1]);
      expect(seconds * 1000, name).to.be.at.least(2 * stopMilliseconds[name]);
    }
  });

  it("gives the Temporal server the settings and the dynamic configuration of the production suite", () => {
    const server = services["temporal"];
    expect(server?.env_file).to.equal("config/temporal/server.env");
    expect(readFileSync(join(root, "config/temporal/server.env"), "utf8")).to.match(/^NUM_HISTORY_SHARDS=512$/m);
    expect(server?.environment?.["DYNAMIC_CONFIG_FILE_PATH"]).to.equal("/setup/dynamic-config.yaml");
    expect(server?.volumes).to.deep.equal(["./config/temporal:/setup:ro"]);
    expect(parse(readFileSync(join(root, "config/temporal/dynamic-config.yaml"), "utf8"))).to.deep.equal({
      "history.MaxBufferedQueryCount": [{ value: 100, constraints: {} }],
      "frontend.namespaceRPS.visibility": [{ value: 100, constraints: {} }],
      "limit.memoSize.warn": [{ value: 1048576, constraints: {} }],
      "history.workflowTaskRetryMaxInterval": [{ value: "1m", constraints: {} }],
    });
  });

  it("has the versions of PostgreSQL and Temporal that the production suite runs", async () => {
    const { version } = (await import(join(root, "scripts/postgresql.mjs"))) as { version: string };
    const { temporalServerVersion } = (await import(join(root, "scripts/temporal-server.mjs"))) as {
      temporalServerVersion: () => string;
    };
    expect(services["postgresql"]?.image).to.equal(`postgres:${version.replace(/\.0-.*$/, "")}-bookworm`);
    expect(services["temporal"]?.image).to.equal(`temporalio/server:${temporalServerVersion()}`);
    for (const job of ["temporal-schema", "temporal-namespace"])
      expect(services[job]?.image).to.equal(`temporalio/admin-tools:${temporalServerVersion()}`);
  });

  it("runs jobs whose scripts are there, and roles that the service has", () => {
    for (const job of ["temporal-schema", "temporal", "temporal-namespace"]) {
      const script = services[job]?.entrypoint?.[1]?.replace("/setup/", "config/temporal/") ?? "";
      expect(existsSync(join(root, script)), script).to.equal(true);
    }
    for (const role of ["api", "worker", "simulator"]) expect(services[role]?.command).to.deep.equal([role]);
    expect(services["simulator"]?.profiles).to.deep.equal(["simulator"]);
  });
});

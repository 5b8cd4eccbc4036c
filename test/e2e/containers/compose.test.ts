import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { freePorts } from "../../support/service/deployment";
import { ComposeProject, documentedCommands, limits, unhurried, type Container } from "./compose-project";
import { Engine } from "./engine";
import { Operator } from "./operator";
import { makeStandIns } from "./stand-ins";

const running = ["api", "postgresql", "simulator", "temporal", "temporal-ui", "worker", "worker"];
const jobs = ["temporal-namespace", "temporal-schema"];

const serviceOf = ({ Config }: Container) => Config.Labels["com.docker.compose.service"] ?? "";

/** A story: each test goes on where the one before it has left the containers. */
describe("docker-compose.yml on an engine, with images that stand in for the published ones", function () {
  this.timeout(600_000);
  this.bail(true);
  let engine: Engine;
  let project: ComposeProject;
  let operator: Operator;
  /** The stand-ins but that of Node. */
  let others: Promise<unknown>;
  let discard = () => Promise.resolve();

  before(async () => {
    engine = await Engine.start();
    discard = () => engine.discard();
    ({ others } = await makeStandIns((command) => engine.sh(command)));
    const { api } = await freePorts("api");
    project = new ComposeProject(engine, api);
  });
  after(() => discard());

  /** Waits until all that keeps running is healthy. */
  async function untilHealthy(expected = running, limit = 120_000): Promise<void> {
    const read = async () =>
      (await project.containers())
        .filter(({ State }) => State.Health?.Status === "healthy" && State.Status === "running")
        .map(serviceOf)
        .sort();
    await unhurried(read, (services) => services.join() === expected.join(), limit);
  }

  async function ofTheService(): Promise<Container[]> {
    return (await project.containers()).filter((container) => !jobs.includes(serviceOf(container)));
  }

  it("is loaded without a word", async () => {
    for (const profile of ["", "simulator"]) {
      project.settings({ COMPOSE_PROFILES: profile });
      const { stdout, stderr } = await project.documented("docker compose config -q");
      expect({ stdout, stderr }).to.deep.equal({ stdout: "", stderr: "" });
    }
    project.settings({});
  });

  it("is built, gets its secrets and starts, as the page says", async () => {
    // The first build takes longest of all here: images of others are made meanwhile.
    await Promise.all([others, project.sh("docker compose build")]);
    const { stdout } = await project.documented("docker compose build");
    expect(stdout.match(/^Successfully tagged /gm), "images that were built").to.have.lengthOf(1);
    await project.documented("sh deploy/compose/make-secrets.sh ums.example.com");
    await project.documented("docker compose --profile simulator up --wait");
    project.settings({ COMPOSE_PROFILES: "simulator" });
    await untilHealthy();
    expect((await project.documented("docker compose ps")).stdout).to.contain("(healthy)");
  });

  it("has the native libraries of one platform only in its image", async () => {
    const releases = "node_modules/@temporalio/core-bridge/releases";
    const image = "upgrade-management-service:0.1.0";
    const there = await project.sh(`docker run --rm --network none --entrypoint ls ${image} ${releases}`);
    expect(there).to.match(/^\w+-unknown-linux-gnu$/);
  });

  it("runs without root, without capabilities, within its limits, on file systems that cannot be written to", async () => {
    for (const container of await ofTheService()) {
      const name = container.Name;
      const status = readFileSync(`/proc/${container.State.Pid}/status`, "utf8");
      const ids = [...status.matchAll(/^[UG]id:\s+(.*)$/gm)].map(([, all = ""]) => all.split("\t").map(Number));
      expect(ids.flat(), name).to.have.lengthOf(8).and.not.to.include(0);
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
        expect(status, name).to.match(new RegExp(`^${set}:\\s+0+$`, "m"));
      expect(status, name).to.match(/^NoNewPrivs:\s+1$/m);
      const { ReadonlyRootfs, PidsLimit, Memory, NanoCpus } = container.HostConfig;
      expect(ReadonlyRootfs, name).to.equal(true);
      for (const limit of [PidsLimit, Memory, NanoCpus]) expect(limit, name).to.be.greaterThan(0);
      const { code, stderr } = await project.run(`docker exec ${container.Id} touch /usr/new /home/new /etc/new`);
      expect(code, name).not.to.equal(0);
      expect(stderr.match(/Read-only file system/g), name).to.have.lengthOf(3);
    }
    for (const job of jobs)
      expect((await project.container(job)).State, job).to.include({ Status: "exited", ExitCode: 0 });
  });

  it("gives each role the limits and waits that an operator has set", async () => {
    for (const service of ["api", "simulator", "worker"])
      for (const { Config, Name } of await project.containers(service))
        expect(Config.Env, Name).to.include.members(limits);
  });

  it("has no volume without a name", async () => {
    const named = ["api", "postgresql", "simulator"].map((name) => `upgrade-management_${name}`);
    expect((await project.sh("docker volume ls -q")).split("\n")).to.have.members(named);
  });

  it("shows no secret to who inspects containers, images and processes", async () => {
    const inspected = await project.sh("docker inspect $(docker ps -aq) $(docker images -q)");
    const processes = (await ofTheService()).map(({ State }) => readFileSync(`/proc/${State.Pid}/cmdline`, "utf8"));
    const files = ["", "api"].flatMap((folder) =>
      readdirSync(join(project.folder, "secrets", folder)).map((name) => join(folder, name)),
    );
    const secrets = files.filter((name) => statSync(join(project.folder, "secrets", name)).isFile());
    const words = secrets.flatMap((name) => project.secret(name).split(/\s+/)).filter((word) => word.length > 20);
    expect(words.length).to.be.greaterThan(8);
    for (const word of words)
      expect([inspected, ...processes].join("\n").includes(word), "a secret is shown").to.equal(false);
  });

  it("gives the Temporal server a role that is no superuser, and the superuser no way in from elsewhere", async () => {
    const psql = "docker compose exec -T postgresql psql -U postgres -At -c";
    const roles = await project.sh(`${psql} "SELECT rolname FROM pg_roles WHERE rolsuper"`);
    expect(roles).to.equal("postgres");
    expect(await project.sh(`${psql} "SHOW max_connections"`)).to.equal("200");
    const password = "PGPASSWORD=$(cat /run/secrets/postgres-password)";
    const byNetwork = (user: string) =>
      project.run(
        `docker compose exec -T postgresql sh -c '${password} psql -h "$(hostname -i)" -U ${user} -d postgres -c "SELECT 1"'`,
      );
    expect((await byNetwork("temporal")).code).to.equal(0);
    expect((await byNetwork("postgres")).stderr).to.contain("authentication failed");
    expect((await project.documented("docker compose exec postgresql psql -U postgres")).code).to.equal(0);
  });

  it("takes a login and brings a draft to Successful over TLS", async () => {
    operator = await Operator.logIn(project);
    await operator.untilDone(await operator.startUpgrade());
    const log = await project.sh("docker compose logs temporal");
    expect(log).not.to.contain("memo size");
    const ui = await project.sh("docker compose port temporal-ui 8080");
    const answer = await fetch(`http://${ui}/api/v1/namespaces/default`);
    expect(answer.status).to.equal(200);
  });

  it("has each host remediated once although each container is killed in the middle of one", async () => {
    const id = await operator.startUpgrade();
    const groups = [["worker"], ["temporal"], ["postgresql"], ["api", "temporal-ui", "simulator"]];
    for (const [host, services] of groups.entries()) {
      const containers = async () => (await Promise.all(services.map((service) => project.containers(service)))).flat();
      await operator.untilHosts(host + 1);
      const killed = await containers();
      for (const { State } of killed) process.kill(State.Pid, "SIGKILL");
      const isBack = ({ Id, State }: Container) =>
        State.Pid > 0 && killed.some((one) => one.Id === Id && one.State.Pid !== State.Pid);
      await unhurried(containers, (now) => now.every(isBack), 60_000);
    }
    await operator.untilDone(id);
    await untilHealthy();
  });

  it("goes on after `down` and `up` in the middle of a host, with the same volumes", async () => {
    const volumes = await project.sh("docker volume ls");
    const id = await operator.startUpgrade();
    await operator.untilHosts(2);
    await project.documented("docker compose down");
    expect(await project.containers()).to.deep.equal([]);
    expect(await project.sh("docker volume ls")).to.equal(volumes);
    await project.documented("docker compose up --wait");
    await operator.untilDone(id);
  });

  it("goes on by itself after the engine was stopped and started in the middle of a host", async () => {
    const id = await operator.startUpgrade();
    await operator.untilHosts(2);
    await engine.restart();
    await untilHealthy();
    await operator.untilDone(id);
  });

  it("goes back to a backup by the commands of the page, and what was upgraded since is not upgraded again", async () => {
    const id = await operator.startUpgrade();
    await operator.untilHosts(1);
    await project.documented("pg_dump");
    await operator.untilDone(id);
    await project.documented("docker compose stop worker api temporal-ui temporal");
    await project.documented("pg_restore");
    await project.documented("docker compose up --wait");
    await operator.untilDone(id);
  });

  it("changes the password of its database and replaces workers and API while an upgrade runs, by the commands of the page", async () => {
    const id = await operator.startUpgrade();
    await operator.untilHosts(1);
    const before = project.secret("postgres-password");
    await project.documented("ALTER ROLE");
    expect(project.secret("postgres-password")).not.to.equal(before);
    await project.documented("docker compose build");
    for (const service of ["worker", "api"]) await project.documented(`docker compose up --no-deps --wait ${service}`);
    await operator.untilDone(id);
  });

  it("has as many workers as it is told to, and one API", async () => {
    await project.documented("docker compose up --scale worker=4 --wait");
    expect(await project.containers("worker")).to.have.lengthOf(4);
    project.settings({ COMPOSE_PROFILES: "simulator", WORKERS: "3" });
    await project.documented("docker compose up --wait");
    expect(await project.containers("worker")).to.have.lengthOf(3);
    const { code, stderr } = await project.run("docker compose up -d --no-deps --scale api=2 api");
    expect(code).not.to.equal(0);
    expect(stderr).to.contain("port is already allocated");
    project.settings({ COMPOSE_PROFILES: "simulator" });
    await project.documented("docker compose up --wait");
    expect(await project.containers("worker")).to.have.lengthOf(2);
    expect(await project.containers("api")).to.have.lengthOf(1);
  });

  it("is set up, and comes back to Temporal, where a DNS is silent", async () => {
    engine.nameServer!.silent = true;
    const { milliseconds } = await project.run("docker compose up --force-recreate --no-deps temporal-namespace");
    expect((await project.container("temporal-namespace")).State.ExitCode).to.equal(0);
    expect(milliseconds).to.be.below(45_000);
    const id = await operator.startUpgrade();
    await operator.untilHosts(1);
    await project.sh("docker compose stop temporal");
    await unhurried(
      () => project.containers("worker"),
      (workers) => workers.every(({ State }) => State.Health?.Status === "unhealthy"),
      120_000,
    );
    await project.sh("docker compose start temporal");
    await untilHealthy(running, 60_000);
    await operator.untilDone(id);
    engine.nameServer!.silent = false;
  });

  it("ends each container when it is told to, within a few seconds", async () => {
    const containers = await ofTheService();
    for (const { Id, Name } of containers.sort(
      (one, other) => Number(serviceOf(other) === "api") - Number(serviceOf(one) === "api"),
    )) {
      const { milliseconds } = await project.run(`docker stop --time 60 ${Id}`);
      expect(milliseconds, Name).to.be.below(8_000);
    }
    for (const { State, Name } of await ofTheService()) expect(State.ExitCode, Name).not.to.equal(137);
    const unlike = `docker compose run -d --no-deps --entrypoint /bin/sh`;
    for (const job of jobs) {
      const id = await project.sh(`${unlike} ${job} -c 'sleep 600'`);
      expect((await project.run(`docker stop --time 60 ${id}`)).milliseconds, job).to.be.below(5_000);
    }
  });

  it("has run every command of docker that the pages have", () => {
    expect(documentedCommands()).to.have.members([...project.done]);
  });
});

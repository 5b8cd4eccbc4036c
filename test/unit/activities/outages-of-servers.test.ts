import { expect } from "chai";
import {
  mgmtTarget,
  runStep,
  type SimulatedManagementServer,
  simulateManagementServer,
} from "./simulated-management-server";
import { groups, simulateNetvirt, start, type SimulatedNetvirt } from "./simulated-netvirt";

const html = "<html><body>Not found</body></html>";

/** What servers answer while they are unwell, whatever they are asked; each comes three times. */
const answers: readonly Readonly<Record<string, unknown>>[] = [
  { status: 500, contentType: "application/json", body: '{"error_type":"ERROR","error_code":99}' },
  { status: 404, body: html },
  { status: 404, contentType: "application/json", body: "{}" },
  { status: 200, contentType: "text/plain", body: "Service is starting." },
  { status: 401 },
  { status: 403 },
];

describe("a NETVIRT manager that is unwell for moments", function () {
  this.timeout(20_000);
  let netvirt: SimulatedNetvirt;
  beforeEach(async () => {
    netvirt = await simulateNetvirt();
  });
  afterEach(() => netvirt.close());

  const upgrade = () => {
    const attempts = { maximumAttempts: 1, retryDelay: 0 };
    const { upgradeNetvirtComponent } = netvirt.activities();
    return start(() => upgradeNetvirtComponent({ ...netvirt.target, component: "EDGE", attempts })).end;
  };
  const requests = async () => (await netvirt.ledger()).filter(({ step }) => step === "NSX_UPGRADE_REQUESTED");

  for (const answer of answers)
    it(`ends no component: ${JSON.stringify(answer)}`, async () => {
      await netvirt.fault({ kind: "ANSWERS", path: "/nsx/", times: 3, ...answer });
      const { result, error } = await upgrade();
      expect(error).to.equal(undefined);
      expect(result).to.include({ outcome: "UPGRADED" });
      expect([await netvirt.isUsedUp("ANSWERS"), (await requests()).length]).to.deep.equal([true, 1]);
    });

  it("is asked again, after a look, for a component that it may not have begun", async () => {
    await netvirt.fault({ kind: "ANSWERS", method: "POST", path: "/plan", status: 500, body: html, times: 7 });
    expect((await upgrade()).result).to.include({ outcome: "UPGRADED" });
    expect(await requests()).to.have.length(1);
  });

  it("is not asked again for a component that it has begun", async () => {
    await netvirt.fault({ kind: "ANSWERS", method: "POST", path: "/plan", status: 500, times: 1, after: true });
    expect((await upgrade()).result).to.include({ outcome: "UPGRADED" });
    expect(await requests()).to.have.length(1);
  });

  it("gets its settings back, also of groups whose path is away", async () => {
    const { readNetvirtUpgrade, putNetvirtSettings, restoreNetvirtSettings } = netvirt.activities();
    const target = { ...netvirt.target, options: { edgeOnly: false, hostClusters: [{ id: groups.hosts2 }] } };
    const { result } = await start(() => readNetvirtUpgrade(target)).end;
    const previous = result!.previous;
    await start(() => putNetvirtSettings({ ...target, previous })).end;
    const enabled = async () => (await netvirt.manager()).groups.find(({ id }) => id === groups.hosts1)?.enabled;
    expect(await enabled()).to.equal(false);
    await netvirt.fault({ kind: "ANSWERS", path: "/upgrade-unit-groups/", status: 404, body: html, times: 3 });
    expect((await start(() => restoreNetvirtSettings({ ...target, previous })).end).error).to.equal(undefined);
    expect(await enabled()).to.equal(true);
  });

  for (const [stage, happens] of [
    ["FIRST_CONTACT", "told at once in the first prechecks"],
    ["IN_WORK", "waited out in prechecks between two products"],
  ] as const)
    it(`is ${happens}`, async () => {
      await netvirt.fault({ kind: "ANSWERS", path: "/nsx/", times: 3, status: 404, body: html });
      const target = { ...netvirt.target, stage };
      const { result, error } = await start(() => netvirt.activities().runNetvirtPrechecks(target)).end;
      expect(error).to.equal(undefined);
      const statuses = new Set(result!.stages.map(({ status }) => status));
      expect(statuses.has("FAILED")).to.equal(stage === "FIRST_CONTACT");
    });
});

describe("a management server that is unwell for moments", function () {
  this.timeout(20_000);
  let server: SimulatedManagementServer;
  beforeEach(async () => {
    server = await simulateManagementServer();
  });
  afterEach(() => server.close());

  const unwell = (path: string, answer: object) => server.fault({ kind: "ANSWERS", path, times: 3, ...answer });
  const count = async (step: string) => (await server.steps()).filter((done) => done === step).length;

  for (const answer of answers) {
    it(`ends no update in place: ${JSON.stringify(answer)}`, async () => {
      const { stageMgmtUpdate, installMgmtUpdate } = server.activities();
      for (const step of [stageMgmtUpdate, installMgmtUpdate]) {
        await unwell("/api/appliance/", answer);
        expect((await runStep<unknown>(() => step(server.target))).error).to.equal(undefined);
      }
      expect((await server.state()).version).to.equal(mgmtTarget);
      expect([await count("MGMT_STAGE_REQUESTED"), await count("MGMT_INSTALL_REQUESTED")]).to.deep.equal([1, 1]);
    });

    it(`ends no migration: ${JSON.stringify(answer)}`, async () => {
      const { prepareMgmtMigration, switchOverMgmtMigration } = server.activities();
      for (const step of [prepareMgmtMigration, switchOverMgmtMigration]) {
        await unwell("/lcm/", answer);
        expect((await runStep<unknown>(() => step(server.target))).error).to.equal(undefined);
      }
      expect((await server.state()).version).to.equal(mgmtTarget);
      expect([await count("MGMT_MIGRATION_SET"), await count("MGMT_SWITCHOVER_STARTED")]).to.deep.equal([1, 1]);
    });
  }

  for (const [what, fault] of [
    ["has not begun", { times: 7 }],
    ["has begun", { times: 1, after: true }],
  ] as const)
    it(`is looked at after a 500, and installs once, where it ${what} the installation`, async () => {
      const { stageMgmtUpdate, installMgmtUpdate } = server.activities();
      await runStep<unknown>(() => stageMgmtUpdate(server.target));
      await server.fault({ kind: "ANSWERS", path: "action=install", status: 500, body: html, ...fault });
      expect((await runStep(() => installMgmtUpdate(server.target))).result).to.deep.equal({ version: mgmtTarget });
      expect(await count("MGMT_INSTALL_REQUESTED")).to.equal(1);
    });
});

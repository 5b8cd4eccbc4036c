import { expect } from "chai";
import type { MgmtPrecheckInput } from "../../../activities/contract";
import type { Stage } from "../../../src/domain/spec/task";
import { succeed } from "./simulated-cluster";
import { rootPassword, type SimulatedManagementServer, simulateManagementServer } from "./simulated-management-server";

describe("the prechecks of a management server", function () {
  this.timeout(20_000);
  let server: SimulatedManagementServer;
  beforeEach(async () => {
    server = await simulateManagementServer();
  });
  afterEach(() => server.close());

  type Options = Parameters<SimulatedManagementServer["activities"]>[0];
  const check = async (over: Partial<MgmtPrecheckInput>, options?: Options) =>
    (await succeed(() => server.activities(options).runMgmtPrechecks({ ...server.target, ...over }))).stages;
  const inPlace = (options?: Options) => check({ mechanism: "InPlace" }, options);
  const migration = (over: Partial<MgmtPrecheckInput> = {}, options?: Options) =>
    check({ mechanism: "ReducedDowntimeMigration", ...over }, options);
  const codes = (stages: readonly Stage[]) =>
    stages.flatMap(({ type, errors = [] }) => errors.map(({ errorCode }) => `${type} ${errorCode}`));
  const messages = (stages: readonly Stage[]) => stages.flatMap(({ errors = [] }) => errors).map((e) => e.message);

  it("pass where the target is offered, and change nothing", async () => {
    for (const stages of [
      await inPlace(),
      await migration(),
      await migration({ temporaryNetwork: { mode: "AUTOMATIC" } }),
    ]) {
      expect(stages.map(({ status }) => status)).to.deep.equal(stages.map(() => "SUCCESSFUL"));
      expect(stages.flatMap(({ findings = [] }) => findings)).to.deep.equal([]);
      expect(stages).to.have.length(9);
    }
    expect(await server.steps()).to.deep.equal([]);
  });

  it("give the version of the server, for whoever looks at a draft", async () => {
    for (const mechanism of ["InPlace", "ReducedDowntimeMigration"] as const) {
      const read = await succeed(() => server.activities().runMgmtPrechecks({ ...server.target, mechanism }));
      expect(read.versions, mechanism).to.deep.equal({ "9.0.0.0": 1 });
    }
  });

  it("pass where the target runs already", async () => {
    await succeed(() => server.activities().prepareMgmtMigration(server.target));
    await succeed(() => server.activities().switchOverMgmtMigration(server.target));
    expect(codes(await inPlace())).to.deep.equal([]);
    expect(codes(await migration())).to.deep.equal([]);
  });

  it("name a newer server and a version that is not offered", async () => {
    expect(codes(await check({ targetVersion: "8.9.9.0" }))).to.deep.equal([
      "MGMT_NO_DOWNGRADE MGMT_NEWER_THAN_TARGET",
      "MGMT_UPDATE_AVAILABLE PRECHECK_NOT_RUN",
      "MGMT_UPDATE_CHECK PRECHECK_NOT_RUN",
    ]);
    expect(codes(await check({ targetVersion: "9.9.9.0" }))[0]).to.equal(
      "MGMT_UPDATE_AVAILABLE MGMT_UPDATE_NOT_OFFERED",
    );
  });

  it("report the product's own check and the questions that nobody answers", async () => {
    await server.fault({ kind: "MGMT_PRECHECK_FAILS", times: 1, message: "/storage/core is full" });
    await server.fault({ kind: "MGMT_QUESTION_ASKED", item: "vmdir.password" });
    await server.fault({ kind: "MGMT_QUESTION_ASKED", item: "other.data" });
    const stages = await inPlace();
    expect(codes(stages)).to.deep.equal([
      "MGMT_UPDATE_CHECK MGMT_UPDATE_NOT_POSSIBLE",
      "MGMT_UPDATE_CHECK MGMT_QUESTION_UNANSWERED",
    ]);
    expect(messages(stages)).to.satisfy(
      ([first, second]: string[]) => first?.includes("/storage/core is full") && second?.includes("other.data"),
    );
  });

  it("tell the warnings of the product's own check, which fail nothing", async () => {
    for (const [run, what] of [
      [inPlace, "update"],
      [migration, "migration"],
    ] as const) {
      await server.fault({ kind: "MGMT_PRECHECK_FAILS", times: 1, message: "/storage/log fills up", warning: true });
      const stages = await run();
      expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
      expect(stages.flatMap(({ findings = [] }) => findings)).to.deep.equal([
        {
          severity: "WARNING",
          code: "MGMT_CHECK_WARNING",
          message: `The management server's check of the ${what}: /storage/log fills up`,
          remediationMessage: "Find out what the warning means for the management server, or acknowledge it.",
          resourceId: server.target.server.resourceId,
          isAcknowledgeable: true,
          subject: "/storage/log fills up",
        },
      ]);
    }
  });

  it("warn of an old backup, a certificate that expires, a wrong clock and a full disk", async () => {
    for (const kind of ["MGMT_BACKUP_OLD", "MGMT_CERTIFICATE_EXPIRES", "MGMT_CLOCK_WRONG", "MGMT_DISK_FULL"])
      await server.fault({ kind });
    for (const stages of [await inPlace(), await migration()]) {
      expect(codes(stages)).to.deep.equal([]);
      const found = stages.flatMap(({ type, findings = [] }) =>
        findings.map(({ severity, code, isAcknowledgeable }) => [type, severity, code, isAcknowledgeable]),
      );
      expect(found).to.deep.equal([
        ["BACKUP_RECENT", "WARNING", "BACKUP_NOT_RECENT", true],
        ["CERTIFICATES_VALID", "WARNING", "CERTIFICATE_EXPIRES", true],
        ["CLOCKS_IN_SYNC", "WARNING", "CLOCK_OUT_OF_SYNC", true],
        ["DISK_SPACE", "WARNING", "DISK_SPACE_LOW", true],
      ]);
      const [backup, certificate, clock, disk] = stages
        .flatMap(({ findings = [] }) => findings)
        .map(({ message }) => message);
      expect(backup).to.match(/^Management server fra1-vc01 has no backup of the last 24 hours: the last one ended 20/);
      expect(certificate).to.match(/^The certificate of management server fra1-vc01 expired 20/);
      expect(clock).to.equal("The clock of management server fra1-vc01 is 600 s behind that of the service.");
      expect(disk).to.equal("Management server fra1-vc01 reports the health of its disks as red.");
    }
  });

  it("say that no backup has succeeded where there is none", async () => {
    const path = "/api/appliance/recovery/backup/job/details";
    await server.fault({ kind: "ANSWERS", path, status: 200, contentType: "application/json", body: "{}" });
    const [finding] = (await inPlace()).flatMap(({ findings = [] }) => findings);
    expect(finding?.message).to.equal(
      "Management server fra1-vc01 has no backup of the last 24 hours: none has succeeded.",
    );
  });

  it("note what the service's user may not read, and fail nothing", async () => {
    const forbidden = JSON.stringify({ error_type: "UNAUTHORIZED", messages: [] });
    const answer = { status: 403, contentType: "application/json", body: forbidden };
    await server.fault({ kind: "ANSWERS", path: "/api/appliance/recovery", ...answer });
    const stages = await inPlace();
    expect(stages.filter(({ status }) => status !== "SUCCESSFUL")).to.deep.equal([]);
    expect(stages.flatMap(({ findings = [] }) => findings)).to.have.length(1);
    expect(stages.find(({ type }) => type === "BACKUP_RECENT")?.findings?.[0]).to.deep.include({
      severity: "INFO",
      code: "CHECK_NOT_POSSIBLE",
    });
  });

  it("report the product's check of a migration, such as an address that is in use", async () => {
    const temporaryNetwork = { mode: "STATIC", ipAddress: "10.20.30.99", prefix: 24, gateway: "10.20.30.1" } as const;
    const stages = await migration({ temporaryNetwork });
    expect(codes(stages)).to.deep.equal(["MGMT_MIGRATION_CHECK MGMT_CHECK_FAILED"]);
    expect(messages(stages)[0]).to.include("10.20.30.99 is in use");
  });

  it("say what is to be set in the inventory", async () => {
    const settings = undefined;
    const stages = await migration({}, { settings });
    expect(codes(stages)).to.deep.equal([
      "MGMT_SETTINGS MGMT_SETTINGS_MISSING",
      "MGMT_SETTINGS MGMT_SETTINGS_MISSING",
      "MGMT_MIGRATION_CHECK PRECHECK_NOT_RUN",
    ]);
    const remedies = stages.flatMap(({ errors = [] }) => errors.map((error) => error.remediationMessage));
    expect(remedies[0]).to.match(/Set the DNS servers of management server fra1-vc01 \(m-1\) in the inventory/);
    const withPassword = { dnsServers: [], temporaryRootPassword: rootPassword, answers: {} };
    const automatic = await migration({ temporaryNetwork: { mode: "AUTOMATIC" } }, { settings: withPassword });
    expect(codes(automatic)).to.deep.equal([]);
  });

  it("refuse beside another update or migration, and after an installation that failed for good", async () => {
    await server.hostSeconds(60);
    await server.asSomebodyElse("POST", "appliance/update/pending/9.0.1.0?action=stage", {});
    for (const stages of [await inPlace(), await migration()])
      expect(codes(stages)[0]).to.equal("MGMT_NO_UPDATE_IN_PROGRESS MGMT_BUSY");
    await server.asSomebodyElse("POST", "appliance/update?action=cancel");
    await server.hostSeconds(0.1);
    const spec = { version: "9.0.1.0", deployment: { appliance: { root_password: "other" } } };
    await server.asSomebodyElse("PUT", "vcenter/lcm/deployment/migration-upgrade", spec);
    for (const stages of [await inPlace(), await migration()])
      expect(codes(stages)[0]).to.equal("MGMT_NO_UPDATE_IN_PROGRESS MGMT_BUSY");
    await succeed(() => server.activities().cancelMgmtMigration({ ...server.target, targetVersion: "9.0.1.0" }));

    await server.fault({ kind: "MGMT_INSTALL_FAILS", times: 1 });
    await succeed(() => server.activities().stageMgmtUpdate(server.target));
    const failed = succeed(() => server.activities().installMgmtUpdate(server.target));
    await failed.catch(() => undefined);
    expect(codes(await inPlace())[0]).to.equal("MGMT_NO_UPDATE_IN_PROGRESS MGMT_INSTALL_FAILED");
  });

  it("accept the migration to the target that an earlier attempt has left", async () => {
    await succeed(() => server.activities().prepareMgmtMigration(server.target));
    expect(codes(await migration())).to.deep.equal([]);
    expect(codes(await inPlace())[0]).to.equal("MGMT_NO_UPDATE_IN_PROGRESS MGMT_BUSY");
  });
});

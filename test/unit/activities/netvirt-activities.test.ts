import { CancelledFailure } from "@temporalio/common";
import { expect } from "chai";
import type { NetvirtTarget } from "../../../activities/contract";
import type { NetvirtUpgradeOptions } from "../../../src/domain/plan/upgrade-plan";
import { defaultActivityLimits } from "../../support/default-limits";
import { ManualClock } from "../../support/manual-clock";
import {
  failureOf,
  groups,
  oldVersion,
  type SimulatedNetvirt,
  simulateNetvirt,
  start,
  targetVersion,
} from "./simulated-netvirt";

describe("the Activities of a NETVIRT instance", function () {
  this.timeout(20_000);
  let netvirt: SimulatedNetvirt;
  const simulate = async (options: Parameters<typeof simulateNetvirt>[0] = {}) => {
    await netvirt.close();
    netvirt = await simulateNetvirt(options);
  };
  beforeEach(async () => {
    netvirt = await simulateNetvirt();
  });
  afterEach(() => netvirt.close());

  const targetOf = (options: Partial<NetvirtUpgradeOptions> = {}, version = targetVersion): NetvirtTarget => ({
    ...netvirt.target,
    targetVersion: version,
    options: { edgeOnly: false, ...options },
  });
  async function succeed<A>(activity: () => Promise<A>): Promise<A> {
    const { result, error } = await start(activity).end;
    if (error) throw error instanceof Error ? error : new Error(String(error));
    return result as A;
  }
  const read = (target: NetvirtTarget) => succeed(() => netvirt.activities().readNetvirtUpgrade(target));
  const steps = async (step: string) => (await netvirt.ledger()).filter((entry) => entry.step === step);

  describe("runNetvirtPrechecks", () => {
    async function prechecks(target: NetvirtTarget) {
      const { stages, versions } = await succeed(() => netvirt.activities().runNetvirtPrechecks(target));
      return {
        versions,
        failed: stages.filter(({ status }) => status === "FAILED").map(({ type }) => type),
        errors: stages.flatMap(({ errors = [] }) => errors),
        codes: stages.flatMap(({ errors = [] }) => errors.map(({ errorCode }) => errorCode)),
        types: stages.map(({ type }) => type),
        findings: stages.flatMap(({ findings = [] }) => findings),
      };
    }

    it("runs every check, the coordinator's own included, and changes nothing", async () => {
      const before = await netvirt.manager();
      const { failed, types, versions, findings } = await prechecks(targetOf());
      expect(failed).to.deep.equal([]);
      expect(findings).to.deep.equal([]);
      expect(versions, "of the instance").to.deep.equal({ "9.0.0.0.24733065": 1 });
      expect(types).to.include.members(["NETVIRT_TARGET_OFFERED", "NETVIRT_PRE_UPGRADE_CHECKS"]);
      expect(await steps("NSX_CHECKS_STARTED")).to.have.length(1);
      const { groups: after } = await netvirt.manager();
      expect(after).to.deep.equal(before.groups);
      expect((await netvirt.ledger()).map(({ step }) => step)).to.deep.equal(["NSX_CHECKS_STARTED"]);
    });

    it("asks once where the account is refused, and says what to do", async () => {
      await netvirt.fault({ kind: "NSX_ACCOUNT_REFUSED", times: 2 });
      const { codes, errors } = await prechecks(targetOf());
      expect(codes[0]).to.equal("AUTHORIZATION");
      expect(new Set(codes.slice(1))).to.deep.equal(new Set(["PRECHECK_NOT_RUN"]));
      expect(errors[0]?.remediationMessage).to.match(/unlock/);
      const [fault] = (await netvirt.call("GET", "/simulator/faults")).body as [{ remaining: number }];
      expect(fault.remaining).to.equal(1);
    });

    it("names the node that the coordinator's check objects to, but not one that is left out", async () => {
      await netvirt.fault({ kind: "NSX_CHECK_FAILS", node: "other-01.example.com", message: "disk full" });
      const { codes, errors } = await prechecks(targetOf());
      expect(codes).to.deep.equal(["NETVIRT_CHECK_FAILED"]);
      expect(errors[0]?.message).to.equal("other-01.example.com: disk full");
      expect((await prechecks(targetOf({ hostClusters: [{ id: groups.hosts1 }] }))).codes).to.deep.equal([]);
    });

    it("tells the warnings of the coordinator's checks, which fail nothing", async () => {
      await netvirt.fault({
        kind: "NSX_CHECK_FAILS",
        node: "esx-01.example.com",
        message: "old driver",
        warning: true,
      });
      const { failed, findings } = await prechecks(targetOf());
      expect(failed).to.deep.equal([]);
      expect(findings).to.deep.equal([
        {
          severity: "WARNING",
          code: "NETVIRT_CHECK_WARNING",
          message: "esx-01.example.com: old driver",
          remediationMessage: "Resolve what the check reports, then run the prechecks again.",
          resourceId: netvirt.target.netvirt.resourceId,
          isAcknowledgeable: true,
          subject: "esx-01.example.com: old driver",
        },
      ]);
    });

    it("warns of an old backup, a certificate in use that expires, a wrong clock and a full disk", async () => {
      for (const kind of ["NSX_BACKUP_OLD", "NSX_CERTIFICATE_EXPIRES", "NSX_CLOCK_WRONG", "NSX_DISK_FULL"])
        await netvirt.fault({ kind });
      const { failed, findings } = await prechecks(targetOf());
      expect(failed).to.deep.equal([]);
      expect(findings.map(({ severity, code, subject }) => [severity, code, subject])).to.deep.equal([
        ["WARNING", "BACKUP_NOT_RECENT", undefined],
        ["WARNING", "CERTIFICATE_EXPIRES", "mp-cluster"],
        ["WARNING", "CLOCK_OUT_OF_SYNC", undefined],
        ["WARNING", "DISK_SPACE_LOW", "/repository"],
      ]);
      const [backup, certificate, clock, disk] = findings.map(({ message }) => message);
      expect(backup).to.match(/^NETVIRT instance nsx-01 has no backup of the last 24 hours: the last one ended 20/);
      expect(certificate).to.match(/^The certificate mp-cluster of NETVIRT instance nsx-01 expired 20/);
      expect(clock).to.equal(
        "The clock of the manager of NETVIRT instance nsx-01 is 600 s behind that of the service.",
      );
      expect(disk).to.equal("The manager of NETVIRT instance nsx-01 has 5 % of /repository left.");
      expect(findings.every(({ isAcknowledgeable }) => isAcknowledgeable)).to.equal(true);
    });

    it("notes what the account may not read, and fails nothing", async () => {
      const body = JSON.stringify({ httpStatus: "FORBIDDEN", error_code: 403, module_name: "x", error_message: "no" });
      await netvirt.fault({
        kind: "ANSWERS",
        path: "/api/v1/cluster/backups",
        status: 403,
        contentType: "application/json",
        body,
      });
      const { failed, findings } = await prechecks(targetOf());
      expect(failed).to.deep.equal([]);
      expect(findings.map(({ severity, code }) => `${severity} ${code}`)).to.deep.equal(["INFO CHECK_NOT_POSSIBLE"]);
    });

    it("waits for checks that somebody else runs already", async () => {
      await netvirt.fault({ kind: "NSX_PRECHECKS_RUNNING", times: 1 });
      expect((await prechecks(targetOf())).codes).to.deep.equal([]);
    });

    it("refuses a target that the coordinator does not have, and one that is older", async () => {
      expect((await prechecks(targetOf({}, "9.0.2.0.1"))).codes).to.include("NETVIRT_TARGET_NOT_OFFERED");
      expect((await prechecks(targetOf({}, "4.2.0.0.0.1"))).codes).to.include("NETVIRT_NEWER_THAN_TARGET");
    });

    it("refuses to begin while an upgrade runs", async () => {
      await netvirt.hostSeconds(60);
      await netvirt.call("POST", "/nsx/nsx-01/api/v1/upgrade/plan?action=upgrade&component_type=EDGE");
      const { codes } = await prechecks(targetOf());
      expect(codes).to.include("NETVIRT_UPGRADE_RUNNING");
    });

    it("refuses groups that are not there, and parallel edges where that cannot be changed", async () => {
      await simulate({ edgeParallel: false });
      const options = {
        hostClusters: [{ id: "gone" }],
        edgeClusters: [
          { id: groups.edge1, parallel: true },
          { id: groups.edge2, parallel: true },
        ],
      };
      const { codes, errors } = await prechecks(targetOf(options));
      expect(codes).to.deep.equal(["NETVIRT_GROUP_UNKNOWN", "NETVIRT_EDGE_PARALLEL_FIXED"]);
      expect(errors[0]?.message).to.include("gone");
      expect(errors[1]?.context?.["group"]).to.equal(groups.edge1);
    });

    it("refuses a node that an earlier upgrade has left in maintenance mode", async () => {
      await netvirt.fault({ kind: "NSX_NODE_FAILS", node: "esx-01.example.com", times: 1 });
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      const input = { ...targetOf(), component: "HOST" as const, attempts };
      await start(() => netvirt.activities().upgradeNetvirtComponent(input)).end;
      const { codes, errors } = await prechecks(targetOf());
      expect(codes).to.include("NETVIRT_NODE_IN_MAINTENANCE");
      expect(errors.find(({ errorCode }) => errorCode === "NETVIRT_NODE_IN_MAINTENANCE")?.message).to.include("esx-01");
      expect((await prechecks(targetOf({ hostClusters: [{ id: groups.hosts2 }] }))).codes).to.deep.equal([]);
    });
  });

  describe("readNetvirtUpgrade", () => {
    it("gives the components in the order of the target version, with groups and nodes", async () => {
      const { components, previous } = await read(targetOf());
      expect(components.map(({ type, state }) => `${type} ${state}`)).to.deep.equal([
        "MP TO_DO",
        "EDGE TO_DO",
        "HOST TO_DO",
        "FINALIZE_UPGRADE TO_DO",
      ]);
      expect(components.map(({ groups: all }) => all.length)).to.deep.equal([1, 2, 2, 0]);
      expect(components[2]?.groups[0]?.nodes[0]).to.deep.include({ name: "esx-01.example.com", version: oldVersion });
      expect(previous.groups.map(({ id }) => id)).to.deep.equal(Object.values(groups));
      expect(previous.plan["HOST"]).to.include({ pause_on_error: false });
      await simulate({ targetVersion: "4.2.3.0.0.1" });
      const older = await read(targetOf({}, "4.2.3.0.0.1"));
      expect(older.components.map(({ type }) => type)).to.deep.equal(["EDGE", "HOST", "MP"]);
    });

    it("leaves out what the request does not name, and then also the finalization", async () => {
      const { components } = await read(targetOf({ hostClusters: [], edgeClusters: [{ id: groups.edge2 }] }));
      expect(components.map(({ type, state }) => `${type} ${state}`)).to.deep.equal([
        "MP TO_DO",
        "EDGE TO_DO",
        "HOST LEFT_OUT",
        "FINALIZE_UPGRADE LEFT_OUT",
      ]);
      expect(components[1]?.groups.map(({ included }) => included)).to.deep.equal([false, true]);
      const edges = await read(targetOf({ edgeOnly: true }));
      expect(edges.components.map(({ type }) => type)).to.deep.equal(["EDGE"]);
      expect(edges.previous.groups.map(({ id }) => id)).to.deep.equal([groups.edge1, groups.edge2]);
    });

    it("says of each component and node whether it is at the target", async () => {
      const attempts = { maximumAttempts: 1, retryDelay: 0 };
      for (const component of ["MP", "EDGE"] as const) {
        await succeed(() => netvirt.activities().upgradeNetvirtComponent({ ...targetOf(), component, attempts }));
      }
      const { components } = await read(targetOf());
      expect(components.map(({ state }) => state)).to.deep.equal(["AT_TARGET", "AT_TARGET", "TO_DO", "TO_DO"]);
      expect(components[1]?.groups[0]?.nodes[0]).to.include({ status: "SUCCESS", version: targetVersion });
    });
  });

  describe("the settings of the coordinator", () => {
    const options: Partial<NetvirtUpgradeOptions> = {
      hostClustersParallel: false,
      edgeClustersParallel: false,
      hostClusters: [{ id: groups.hosts2, parallel: true, liveUpgrade: true }],
      edgeClusters: [{ id: groups.edge1, parallel: true }],
    };
    const groupOf = async (id: string) => (await netvirt.manager()).groups.find((group) => group.id === id);
    const componentOf = async (type: string) =>
      (await netvirt.manager()).components.find((component) => component.type === type);

    it("are what the request asks for, each in the field of its name", async () => {
      const target = targetOf(options);
      const { previous } = await read(target);
      await succeed(() => netvirt.activities().putNetvirtSettings({ ...target, previous }));
      expect(await componentOf("HOST")).to.deep.include({ parallel: false, pauseOnError: true });
      expect(await componentOf("EDGE")).to.deep.include({ parallel: false, pauseOnError: true });
      expect(await groupOf(groups.hosts2)).to.deep.include({
        enabled: true,
        parallel: true,
        extendedConfiguration: [
          { key: "upgrade_mode", value: "in_place" },
          { key: "rebootless_upgrade", value: "true" },
        ],
      });
      expect(await groupOf(groups.hosts1)).to.deep.include({ enabled: false, parallel: false });
      expect((await groupOf(groups.edge1))?.enabled).to.equal(true);
      expect((await groupOf(groups.edge2))?.enabled).to.equal(false);
    });

    it("stay as they are where the request says nothing, and are not written without need", async () => {
      const target = targetOf();
      const { previous } = await read(target);
      await succeed(() => netvirt.activities().putNetvirtSettings({ ...target, previous }));
      expect(await steps("NSX_GROUP_SET")).to.deep.equal([]);
      expect((await steps("NSX_SETTINGS_SET")).map(({ detail }) => detail?.split(" ")[0])).to.deep.equal(["HOST"]);
    });

    it("are read again and put again where somebody else has changed a group in between", async () => {
      const target = targetOf({ ...options, hostClustersParallel: true });
      const { previous } = await read(target);
      await netvirt.fault({ kind: "NSX_REVISION_STALE", times: 2 });
      await succeed(() => netvirt.activities().putNetvirtSettings({ ...target, previous }));
      expect((await groupOf(groups.hosts1))?.enabled).to.equal(false);
    });

    it("are put back exactly, also twice, and without groups that are gone", async () => {
      const before = await netvirt.manager();
      const target = targetOf(options);
      const { previous } = await read(target);
      const { putNetvirtSettings, restoreNetvirtSettings } = netvirt.activities();
      await succeed(() => putNetvirtSettings({ ...target, previous }));
      const gone = { ...previous, groups: [{ id: "gone", enabled: true }, ...previous.groups] };
      await succeed(() => restoreNetvirtSettings({ ...target, previous: gone }));
      await succeed(() => restoreNetvirtSettings({ ...target, previous }));
      const after = await netvirt.manager();
      expect(after.components).to.deep.equal(before.components);
      expect(after.groups.map(({ revision: _, ...group }) => group)).to.deep.equal(
        before.groups.map(({ revision: _, ...group }) => group),
      );
    });

    for (const path of ["/plan/", "/upgrade-unit-groups/"])
      it(`are not taken for put back where something else has answered that they were: ${path}`, async () => {
        const target = targetOf(options);
        const { previous } = await read(target);
        const { putNetvirtSettings, restoreNetvirtSettings } = netvirt.activities();
        await succeed(() => putNetvirtSettings({ ...target, previous }));
        await netvirt.fault({ kind: "ANSWERS", method: "PUT", path, status: 200, body: "{}", times: 1 });
        const failure = failureOf(await start(() => restoreNetvirtSettings({ ...target, previous })).end);
        expect(failure).to.include({ type: "NETVIRT_SETTINGS_NOT_CHANGED", nonRetryable: false });
        await succeed(() => restoreNetvirtSettings({ ...target, previous }));
      });

    for (const [what, path, step] of [
      ["settings of ours were", "/plan/", "NSX_SETTINGS_SET"],
      ["a group of ours was", "/upgrade-unit-groups/", "NSX_GROUP_SET"],
    ] as const)
      it(`are put back where it was cancelled while ${what} on the way`, async () => {
        const before = await netvirt.manager();
        const target = targetOf(options);
        const { previous } = await read(target);
        const { putNetvirtSettings, restoreNetvirtSettings } = netvirt.activities();
        await netvirt.fault({ kind: "SLOW", method: "PUT", path, times: 1, milliseconds: 300 });
        const run = start(() => putNetvirtSettings({ ...target, previous }));
        while (!(await netvirt.isUsedUp("SLOW")));
        run.environment.cancel();
        expect((await run.end).error).to.be.instanceOf(CancelledFailure);
        await succeed(() => restoreNetvirtSettings({ ...target, previous }));
        while ((await steps(step)).length === 0);
        const after = await netvirt.manager();
        expect(after.components).to.deep.equal(before.components);
        expect(after.groups.map(({ revision: _, ...group }) => group)).to.deep.equal(
          before.groups.map(({ revision: _, ...group }) => group),
        );
      });

    it("are tried to be put back slowly, and no longer than an outage may last, where asking again locks the account", async () => {
      const { previous } = await read(targetOf());
      await netvirt.fault({ kind: "NSX_ACCOUNT_REFUSED", times: 100 });
      const { restoreNetvirtSettings } = netvirt.activities({
        clock: new ManualClock(),
        poll: defaultActivityLimits.poll,
      });
      const restore = async (scheduledTimestampMs: number) =>
        failureOf(await start(() => restoreNetvirtSettings({ ...targetOf(), previous }), { scheduledTimestampMs }).end);
      expect(await restore(Date.now())).to.include({ type: "AUTHORIZATION", nonRetryable: false });
      expect(await restore(Date.now() - defaultActivityLimits.outage)).to.include({ nonRetryable: true });
      expect(await netvirt.timesLeft("NSX_ACCOUNT_REFUSED")).to.be.within(80, 97);
    });
  });

  it("fail naming the manager where the inventory does not know it", async () => {
    const target = { ...targetOf(), netvirt: { ...netvirt.target.netvirt, componentManagerId: "nsx-99" } };
    const failed = failureOf(await start(() => netvirt.activities().readNetvirtUpgrade(target)).end);
    expect(failed).to.include({ type: "COMPONENT_MANAGER_UNKNOWN", nonRetryable: true });
  });
});

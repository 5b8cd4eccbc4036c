import { expect } from "chai";
import { createActivities } from "../../../activities/create-activities";
import { baselineClusterStages } from "../../../src/domain/task/cluster-progress";
import { baselineHostStages } from "../../../src/domain/task/host-remediation";
import { type RunningSimulator, startSimulator } from "../../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { defaultActivityLimits } from "../../support/default-limits";
import { eventually } from "../../support/eventually";
import { activityFailure, FakeActivities } from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

describe("A baseline-managed cluster", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const options = { disableHac: true, preRemediationPowerAction: "POWER_OFF_VMS" as const };
  const resources = () => clusters(1).map((resource) => ({ ...resource, hostosUpgradeOptionsSpec: options }));

  it("has each host recorded before it is touched, and its options told to every Activity", async () => {
    const fake = new FakeActivities({}, 2);
    const upgrade = await bench().upgrade({ resources: resources(), kinds: ["BASELINE"] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const id = upgrade.resourceId();
    expect(fake.calls).to.deep.equal([
      `prechecks ${id}`,
      `readHosts ${id}`,
      `putPolicy ${id}`,
      `setImage ${id}`,
      `before ${id}/host-1`,
      `remediate ${id}/host-1`,
      `before ${id}/host-2`,
      `remediate ${id}/host-2`,
      `readHosts ${id}`,
      `restorePolicy ${id}`,
    ]);
    for (const remediation of fake.remediations) {
      expect(remediation).to.deep.include({ kind: "BASELINE", options });
      expect(remediation.before).to.include({ inMaintenanceMode: false });
    }
    const { stages = [] } = await upgrade.subTask();
    expect(stages.map(({ type, name }) => `${type} ${name}`)).to.deep.equal(
      Object.entries(baselineClusterStages).map(([type, name]) => `${type} ${name}`),
    );
  });

  it("is upgraded in one request with an image-managed one, each in its own way", async () => {
    const fake = new FakeActivities({}, 1);
    const upgrade = await bench().upgrade({ resources: clusters(2), kinds: ["IMAGE", "BASELINE"] }, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(fake.calls.filter((call) => call.startsWith("before "))).to.deep.equal([
      `before ${upgrade.resourceId(1)}/host-1`,
    ]);
    expect(fake.remediations.map(({ kind, options }) => `${kind} ${options !== undefined}`).sort()).to.deep.equal([
      "BASELINE true",
      "IMAGE false",
    ]);
  });

  it("fails at a host of which nothing could be recorded, before that is touched, and puts its settings back", async () => {
    const fake = new FakeActivities({ readHostBefore: () => Promise.reject(activityFailure("RESOURCE_NOT_FOUND")) });
    const upgrade = await bench().upgrade({ resources: resources(), kinds: ["BASELINE"] }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(fake.remediations).to.deep.equal([]);
    expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    expect(await upgrade.hosts()).to.deep.equal(["FAILED", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
  });

  describe("with the real Activities on the simulator", () => {
    let simulator: RunningSimulator;
    let resource: ReturnType<typeof resources>;

    beforeEach(async () => {
      resource = resources();
      simulator = await startSimulator({
        host: "127.0.0.1",
        port: 0,
        hostSeconds: 1,
        log: () => undefined,
        config: {
          depot: [{ version: "9.0.0-0.24755229" }, { version: "9.0.2-0.25148076" }],
          hostVersion: "9.0.0-0.24755229",
          clusters: resource.map(({ resourceId }) => ({
            id: `domain-${resourceId}`,
            name: `${resourceId}-name`,
            hosts: 2,
            management: "BASELINE",
            admissionControl: true,
            poweredOnVms: 2,
          })),
        },
      });
    });
    afterEach(() => simulator.close());

    const real = () =>
      new FakeActivities(
        createActivities({
          componentManager: (id) => ({ id, url: simulator.url, username: "svc", password: "secret" }),
          patchFor: (_id, { version }) => ({
            version,
            metadataUrls: [`http://depot.example.com/hostos/${version}/metadata.zip`],
          }),
          managementServer: () => undefined,
          readFreezes: () => Promise.resolve([]),
          readHolds: () => Promise.resolve([]),
          openingOf: () => ({ isOpen: true }),
          readLockHolder: () => Promise.resolve({}),
          limits: { ...defaultActivityLimits, poll: { min: 10, max: 50 } },
        }),
      );
    const steps = async () => {
      const entries = (await (await fetch(`${simulator.url}/simulator/ledger`)).json()) as LedgerEntry[];
      return entries
        .filter(({ step }) => step !== "VM_POWER_CHANGED")
        .map(({ step, host }) => `${step} ${host ?? ""}`.trim());
    };
    const ofHost = (host: string) =>
      [
        "MAINTENANCE_REQUESTED",
        "MAINTENANCE_ENTERED",
        "APPLY_STARTED",
        "REMEDIATED",
        "REBOOT_REQUESTED",
        "REBOOTED",
        "MAINTENANCE_EXITED",
      ].map((step) => `${step} ${host}`);

    it("survives the loss of its worker in every host, with no step done twice", async () => {
      const upgrade = await bench().upgrade({ resources: resource, kinds: ["BASELINE"] }, real());
      for (const step of ["MAINTENANCE_REQUESTED host-11", "REMEDIATED host-11", "REBOOT_REQUESTED host-12"]) {
        await eventually(steps, (done) => done.includes(step));
        await bench().stopWorker();
        await bench().startWorker();
      }
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(await steps()).to.deep.equal([
        "SETTINGS_SWITCHED_OFF",
        ...ofHost("host-11"),
        ...ofHost("host-12"),
        "SETTINGS_RESTORED",
      ]);
      const { subTasks = [] } = await upgrade.subTask();
      for (const host of subTasks) {
        expect((host.stages ?? []).map(({ type, status }) => `${type} ${status}`)).to.deep.equal(
          Object.keys(baselineHostStages).map((type) => `${type} SUCCESSFUL`),
        );
      }
    });

    it("is brought to a safe end when it is cancelled, with its settings put back", async () => {
      // The host must not be in maintenance mode, and its installation not asked for, before the Activity is told to stop.
      const fault = { kind: "MAINTENANCE_MODE_HANGS", host: "host-11" };
      const made = await fetch(`${simulator.url}/simulator/faults`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(fault),
      });
      expect(made.status).to.equal(201);
      const upgrade = await bench().upgrade({ resources: resource, kinds: ["BASELINE"] }, real());
      await eventually(steps, (done) => done.includes("MAINTENANCE_REQUESTED host-11"));
      await upgrade.handle.cancel();
      expect(await upgrade.end()).to.equal("CANCELLED");
      const done = await steps();
      expect(done.at(-1)).to.equal("SETTINGS_RESTORED");
      expect(done).to.not.include("APPLY_STARTED host-11");
      const state = (await (await fetch(`${simulator.url}/simulator/state`)).json()) as {
        clusters: { hosts: { maintenance: string; poweredOnVms: number }[]; runningTasks: unknown[] }[];
      };
      expect(state.clusters[0]?.runningTasks).to.deep.equal([]);
      expect(
        state.clusters[0]?.hosts.map(({ maintenance, poweredOnVms }) => `${maintenance} ${poweredOnVms}`),
      ).to.deep.equal(["OUT 2", "OUT 2"]);
    });
  });
});

import { expect } from "chai";
import type { UpgradeActivities } from "../../../activities/contract";
import { workerShutdownFailure } from "../../../activities/failures";
import type { HostRemediationOptions } from "../../../src/domain/task/host-remediation";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { clusterIdOf, type ClustersOnSimulator, simulateClusters } from "../../support/clusters-on-simulator";
import { eventually } from "../../support/eventually";
import { mostOutOfService } from "../../support/most-out-of-service";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

/** What somebody has configured before; it acts on no host that is emptied already, and all of it stays. */
const configured = { failure_action: { action: "FAIL" }, pre_remediation_power_action: "SUSPEND_VMS" };
/** The product would switch these off once more, and on again too early. */
const configuredTwice = { ...configured, disable_hac: true, disable_dpm: true };

const powerOff = { preRemediationPowerAction: "POWER_OFF_VMS" } as const;
const suspend = { preRemediationPowerAction: "SUSPEND_VMS" } as const;
const everything = { ...powerOff, disableHac: true, disableDpm: true };

describe("Options of several hosts of an image at once, with the real Activities on the simulator", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let simulated: ClustersOnSimulator;

  const [resource] = clusters(1, "cl-options-");
  const resourceId = resource?.resourceId ?? "";
  const cluster = clusterIdOf(resourceId);

  beforeEach(async () => {
    simulated = await simulateClusters([{ resourceId, kind: "IMAGE" }], {
      hosts: 3,
      admissionControl: true,
      dpm: true,
      poweredOnVms: 2,
      poweredOffVms: 1,
    });
    await simulated.putPolicy(resourceId, configured);
  });
  afterEach(() => simulated.close());

  const upgrade = (
    options: HostRemediationOptions,
    replaced?: (real: UpgradeActivities) => Partial<UpgradeActivities>,
    retryCount = 0,
  ) => {
    const hostosUpgradeFailureAction = { action: "RETRY" as const, retryCount, retryDelay: 0 };
    return bench().upgrade(
      {
        resources: [{ resourceId, hostosUpgradeOptionsSpec: { ...options, hostosUpgradeFailureAction } }],
        kinds: ["IMAGE"],
        rollout: { hostsAtOnce: 2, healthGate: true },
      },
      simulated.activities(replaced),
    );
  };

  const ledger = async () => (await simulated.ledger()).filter((entry) => entry.cluster === cluster);
  const of = (entries: readonly LedgerEntry[], ...wanted: LedgerEntry["step"][]) =>
    entries.filter(({ step }) => wanted.includes(step));
  const steps = async () => (await ledger()).map(({ step }) => step);
  const happened = (step: LedgerEntry["step"], times = 1) =>
    eventually(ledger, (entries) => of(entries, step).length >= times);
  const asConfigured = async (before: object = configured) => {
    const { policy, admissionControl, dpm, hosts } = await simulated.state(resourceId);
    expect({ policy, admissionControl, dpm }).to.deep.equal({ policy: before, admissionControl: true, dpm: true });
    for (const { maintenance, poweredOnVms, poweredOffVms, suspendedVms } of hosts)
      expect({ maintenance, poweredOnVms, poweredOffVms, suspendedVms }).to.deep.equal({
        maintenance: "OUT",
        poweredOnVms: 2,
        poweredOffVms: 1,
        suspendedVms: 0,
      });
  };
  const appliesOf = async () => of(await ledger(), "APPLY_REQUESTED").map(({ detail }) => detail);
  const inTwoGroups = ["hosts host-11, host-12", "hosts host-13"];

  for (const [options, power] of [
    [powerOff, "poweredOff"],
    [suspend, "suspended"],
    [{ disableHac: true }, undefined],
    [{ disableDpm: true }, undefined],
    [{ ...everything, enableQuickboot: true, evacuateOfflineVms: true }, "poweredOff"],
  ] as const)
    it(`are carried out before one remediation that names the hosts: ${JSON.stringify(options)}`, async () => {
      const running = await upgrade(options);
      expect(await running.end()).to.equal("SUCCESSFUL");
      expect(await appliesOf()).to.deep.equal(inTwoGroups);
      expect(mostOutOfService(await ledger(), cluster)).to.equal(2);
      await asConfigured();

      const entries = await ledger();
      expect(
        of(entries, "SETTINGS_SWITCHED_OFF", "SETTINGS_RESTORED").map(({ step, detail }) => [step, detail]),
      ).to.deep.equal(switchedBy(options).map(([step, detail]) => [step, detail]));
      for (const [place, hosts] of [["host-11", "host-12"], ["host-13"]].entries()) {
        const [applied] = of(entries, "APPLY_REQUESTED").slice(place);
        const powered = of(entries, "VM_POWER_CHANGED").filter(({ host = "" }) => hosts.includes(host));
        const told = powered.map(({ seq, detail = "" }) => [seq > (applied?.seq ?? 0), detail.split(" ")[1]]);
        const expected =
          power === undefined
            ? []
            : hosts.flatMap(() => [
                [false, power],
                [false, power],
              ]);
        expect(told).to.deep.equal([...expected, ...expected.map(() => [true, "poweredOn"])]);
      }
    });

  function switchedBy({ disableHac, disableDpm }: HostRemediationOptions): [string, string][] {
    const settings = [...(disableHac ? ["admissionControl"] : []), ...(disableDpm ? ["dpm"] : [])].join(", ");
    return settings === ""
      ? []
      : [
          ["SETTINGS_SWITCHED_OFF", settings],
          ["SETTINGS_RESTORED", settings],
        ];
  }

  it("are not asked of the product as well where the cluster is configured for them", async () => {
    await simulated.putPolicy(resourceId, configuredTwice);
    expect(await (await upgrade(everything)).end()).to.equal("SUCCESSFUL");
    await asConfigured(configuredTwice);
    expect(of(await ledger(), "SETTINGS_SWITCHED_OFF", "SETTINGS_RESTORED").map(({ step }) => step)).to.deep.equal([
      "SETTINGS_SWITCHED_OFF",
      "SETTINGS_RESTORED",
    ]);
  });

  it("are taken back after a failure, which does not keep them off between two attempts", async () => {
    await simulated.fault({ kind: "REMEDIATION_FAILS", host: "host-12" });
    const running = await upgrade(everything, undefined, 1);
    await running.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await asConfigured();
    expect(await appliesOf()).to.deep.equal(["hosts host-11, host-12", "hosts host-12"]);
    expect(await running.hosts()).to.deep.equal(["SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
    const powered = of(await ledger(), "VM_POWER_CHANGED").filter(({ host }) => host === "host-12");
    expect(powered.map(({ detail = "" }) => detail.split(" ")[1])).to.deep.equal(
      [1, 2].flatMap(() => ["poweredOff", "poweredOff", "poweredOn", "poweredOn"]),
    );
  });

  it("fail only the host on which a virtual machine cannot be switched off, and start what was switched off there", async () => {
    await simulated.fault({ kind: "VM_POWER_FAILS", host: "host-12", times: 1, message: "The guest does not react." });
    const running = await upgrade(powerOff);
    await running.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await asConfigured();
    expect(await appliesOf()).to.deep.equal(["hosts host-11"]);
    const [host] = (await running.subTask()).subTasks?.filter(({ status }) => status === "FAILED") ?? [];
    expect(host?.errors?.[0]).to.deep.include({ errorCode: "HOST_MAINTENANCE_MODE_FAILED" });
    expect(host?.errors?.[0]?.message).to.match(
      /virtual machines that could not be powered off \(.+\): The guest does not/,
    );
  });

  for (const [when, step, times] of [
    ["while virtual machines are switched off", "VM_POWER_CHANGED", 1],
    ["when they are off", "VM_POWER_CHANGED", 4],
    ["while hosts enter maintenance mode", "MAINTENANCE_REQUESTED", 1],
    ["while hosts are remediated", "APPLY_STARTED", 1],
    ["while hosts leave maintenance mode", "MAINTENANCE_EXITED", 1],
  ] as const) {
    it(`are taken back after a cancellation ${when}`, async () => {
      const running = await upgrade(everything);
      await happened(step, times);
      await running.handle.cancel();
      expect(await running.end()).to.equal("CANCELLED");
      await asConfigured();
      expect(await appliesOf()).to.have.lengthOf.at.most(1);
    });

    it(`are carried out once and taken back where the worker is lost ${when}`, async () => {
      const running = await upgrade(everything);
      await happened(step, times);
      await bench().stopWorker();
      await bench().startWorker();
      expect(await running.end()).to.equal("SUCCESSFUL");
      await asConfigured();
      expect(await appliesOf()).to.deep.equal(inTwoGroups);
      const powered = of(await ledger(), "VM_POWER_CHANGED").map(({ detail }) => detail ?? "");
      expect(new Set(powered).size).to.equal(12);
      expect(powered).to.have.length(12);
    });
  }

  it("are taken back where the worker is lost after they were set and before anybody knew", async () => {
    let puts = 0;
    const running = await upgrade(everything, (real) => ({
      putRemediationPolicy: async (input) => {
        await real.putRemediationPolicy(input);
        if (++puts === 1) throw workerShutdownFailure({});
      },
    }));
    expect(await running.end()).to.equal("SUCCESSFUL");
    expect(puts).to.equal(2);
    expect((await steps()).filter((step) => step === "SETTINGS_SWITCHED_OFF")).to.have.length(1);
    await asConfigured();
  });

  it("leave alone what was off before, also where the worker is lost before it was recorded", async () => {
    let reads = 0;
    const running = await upgrade(powerOff, (real) => ({
      readRunningVms: async (input) => {
        const found = await real.readRunningVms(input);
        if (++reads === 1) throw workerShutdownFailure({});
        return found;
      },
    }));
    expect(await running.end()).to.equal("SUCCESSFUL");
    expect(reads).to.equal(3);
    await asConfigured();
    const started = of(await ledger(), "VM_POWER_CHANGED").filter(({ detail }) => detail?.endsWith(" poweredOn"));
    expect(started).to.have.length(6);
  });
});

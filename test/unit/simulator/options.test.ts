import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { images, startTestSimulator, testConfig, type SimulatorClient, type TestClock } from "./simulator-client";

const depot = [{ version: images[0] }, { version: images[1], livePatchFrom: [images[0]] }, { version: images[2] }];
const addOn = { name: "DEL-ESX", version: "902.1-A01" };
const firmware = { manager: "com.dell.hsm", package: "PowerEdge-R760", version: "26.01" };
const driver = { name: "bnxt", version: "234.0-1", needsReboot: true };

describe("what the remediation policy changes in the simulator (100 s a host)", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;

  beforeEach(async () => {
    const config = testConfig({
      depot,
      addOns: [addOn],
      components: [driver, { ...driver, version: "233.9-1" }],
      hardwareSupport: [firmware],
    });
    ({ simulator, client, clock } = await startTestSimulator({ config }));
    await client.commit(images[1]);
    clock.advance(10);
  });
  afterEach(() => simulator.close());

  const policy = (fields: object) =>
    client.cluster("PUT", "/policies/apply", { failure_action: { action: "FAIL" }, ...fields });
  const applied = async (...hosts: string[]) => (await client.apply(...hosts)).body as string;
  const host = async (id: string) => (await client.clusterState()).hosts.find((h) => h.id === id)!;
  const steps = async (id: string) => (await client.ledger()).filter((e) => e.host === id).map(({ step }) => step);
  const detail = async (step: string) => (await client.ledger()).find((entry) => entry.step === step)?.detail;
  const maintenance = (id: string, to: "IN" | "OUT") =>
    client.call("PATCH", `/simulator/hosts/${id}`, { maintenance: to });
  const check = async () => {
    await client.cluster("POST", "/software?action=check&vmw-task=true", {});
    clock.advance(10);
    const { body } = await client.cluster("GET", "/software/reports/last-check-result");
    return (body as { status: string }).status;
  };

  const powerActions = [
    ["DO_NOT_CHANGE_VMS_POWER_STATE", { poweredOnVms: 0, poweredOffVms: 2, suspendedVms: 0 }, /12 VMs moved/],
    ["POWER_OFF_VMS", { poweredOnVms: 0, poweredOffVms: 14, suspendedVms: 0 }, /12 VMs powered off/],
    ["SUSPEND_VMS", { poweredOnVms: 0, poweredOffVms: 2, suspendedVms: 12 }, /12 VMs suspended$/],
    [
      "SUSPEND_VMS_TO_MEMORY",
      { poweredOnVms: 0, suspendedVms: 0, suspendedToMemoryVms: 12 },
      /12 VMs suspended to memory/,
    ],
  ] as const;
  for (const [action, during, told] of powerActions)
    it(`pre_remediation_power_action ${action}`, async () => {
      await policy({ pre_remediation_power_action: action });
      const before = await host("host-11");
      await applied("host-11");
      clock.advance(30);
      expect(await host("host-11")).to.include(during);
      expect(await detail("MAINTENANCE_ENTERED")).to.match(told);
      clock.advance(70);
      expect(await host("host-11")).to.deep.equal({ ...before, version: images[1], applies: 1 });
    });

  it("evacuate_offline_vms", async () => {
    await policy({ evacuate_offline_vms: true });
    await applied("host-11");
    clock.advance(30);
    expect(await host("host-11")).to.include({ poweredOffVms: 0 });
    expect(await detail("MAINTENANCE_ENTERED")).to.match(/2 powered-off VMs moved/);
  });

  it("enable_quick_boot reboots in a third of the time", async () => {
    await policy({ enable_quick_boot: true });
    const task = await applied("host-11");
    clock.advance(79);
    expect(await client.task(task)).to.include({ status: "RUNNING" });
    clock.advance(1);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
    expect(await detail("REBOOTED")).to.equal("quick boot");
  });

  for (const quickPatch of [
    { enforce_quick_patch: true },
    { software_policy_spec: { live_patch_action: { live_patch_mode: "ENFORCE_LIVE_PATCH" } } },
  ])
    it(`a live patch by ${Object.keys(quickPatch).join()} needs neither maintenance mode nor a reboot`, async () => {
      await policy(quickPatch);
      const task = await applied("host-11");
      clock.advance(10);
      expect(await host("host-11")).to.include({ maintenance: "OUT", connection: "CONNECTED", poweredOnVms: 12 });
      clock.advance(10);
      expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
      expect(await host("host-11")).to.include({ version: images[1] });
      expect(await steps("host-11")).to.deep.equal(["APPLY_STARTED", "LIVE_PATCHED"]);
    });

  it("a live patch is refused where the image cannot be one, and no host is touched", async () => {
    await policy({ enforce_quick_patch: true });
    await client.commit(images[2]);
    clock.advance(10);
    const task = await client.task(await applied("host-11"));
    expect(task.status).to.equal("FAILED");
    const message = task.result?.host_status["host-11"]?.notifications.errors?.[0]?.message.default_message;
    expect(message).to.match(/without a reboot.*cannot be applied to .* as a live patch/);
    expect(await host("host-11")).to.include({ maintenance: "OUT", version: images[0] });
    await policy({ software_policy_spec: { live_patch_action: { live_patch_mode: "AUTO_LIVE_PATCH" } } });
    const rebooting = await applied("host-11");
    clock.advance(100);
    expect(await client.task(rebooting)).to.include({ status: "SUCCEEDED" });
    expect(await detail("REBOOTED")).to.equal("full boot");
  });

  it("hardware off the compatibility list is a warning, or with enforce_hcl_validation an error", async () => {
    await client.fault({ kind: "HARDWARE_INCOMPATIBLE", host: "host-11" });
    const report = async () => (await client.cluster("GET", "/software/reports/hardware-compatibility")).body;
    expect(await report()).to.include({ status: "INCOMPATIBLE" });
    expect(await check()).to.equal("WARNING");
    await policy({ enforce_hcl_validation: true });
    expect(await check()).to.equal("ERROR");
    expect(await client.task(await applied("host-11"))).to.include({ status: "FAILED" });
    expect(await host("host-11")).to.include({ maintenance: "OUT", version: images[0] });
    await policy({});
    const task = await applied("host-11");
    clock.advance(100);
    expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
  });

  const blockers = [
    ["ADMISSION_CONTROL", { disable_hac: true }],
    ["DPM", { disable_dpm: true }],
    ["RUNNING_VMS", { pre_remediation_power_action: "POWER_OFF_VMS" }],
  ] as const;
  for (const [by, solution] of blockers)
    it(`an evacuation that is blocked by ${by} works with ${JSON.stringify(solution)}`, async () => {
      await client.fault({ kind: "EVACUATION_BLOCKED", by });
      await policy({});
      expect(await check()).to.equal("WARNING");
      const task = await applied("host-11");
      clock.advance(100);
      expect(await client.task(task)).to.include({ status: "FAILED" });
      await policy(solution);
      expect(await check()).to.equal("OK");
      const again = await applied("host-11");
      clock.advance(100);
      expect(await client.task(again)).to.include({ status: "SUCCEEDED" });
      expect(await client.clusterState()).to.include({ admissionControl: true, dpm: true });
    });

  describe("parallel_remediation_action", () => {
    const parallel = (max_hosts?: number) =>
      policy({ parallel_remediation_action: { enabled: true, ...(max_hosts && { max_hosts }) } });

    it("remediates the hosts in maintenance mode at the same time, leaves them in it and skips the others", async () => {
      await parallel();
      for (const id of ["host-11", "host-12"]) expect((await maintenance(id, "IN")).status).to.equal(204);
      const task = await applied("host-11", "host-12", "host-13");
      expect((await maintenance("host-11", "OUT")).status).to.equal(409);
      clock.advance(65);
      const { status, result } = await client.task(task);
      expect(status).to.equal("SUCCEEDED");
      expect(result).to.deep.include({ successful_hosts: ["host-11", "host-12"], skipped_hosts: ["host-13"] });
      const { hosts } = await client.clusterState();
      expect(hosts.map(({ maintenance: mode, version }) => [mode, version])).to.deep.equal([
        ["IN", images[1]],
        ["IN", images[1]],
        ["OUT", images[0]],
      ]);
      for (const id of ["host-11", "host-12"]) expect((await maintenance(id, "OUT")).status).to.equal(204);
      expect((await client.clusterState()).hosts.map(({ poweredOnVms }) => poweredOnVms)).to.deep.equal([12, 12, 12]);
    });

    it("takes no more hosts at once than max_hosts, and goes on after one that fails", async () => {
      await client.fault({ kind: "REMEDIATION_FAILS", host: "host-11" });
      await parallel(1);
      await policy({
        pre_remediation_power_action: "POWER_OFF_VMS",
        parallel_remediation_action: { enabled: true, max_hosts: 1 },
      });
      for (const id of ["host-11", "host-12", "host-13"]) await maintenance(id, "IN");
      const task = await applied("host-11", "host-12", "host-13");
      clock.advance(30);
      expect((await client.task(task)).status).to.equal("RUNNING");
      clock.advance(65 + 65);
      const { status, result } = await client.task(task);
      expect(status).to.equal("FAILED");
      expect(result).to.deep.include({ successful_hosts: ["host-12", "host-13"], failed_hosts: ["host-11"] });
      expect(await host("host-11")).to.include({ maintenance: "IN", version: images[0] });
    });

    it("goes host by host, and stops at the first that fails, where it is not supported", async () => {
      await client.fault({ kind: "PARALLEL_REMEDIATION_UNSUPPORTED" });
      await client.fault({ kind: "REMEDIATION_FAILS", host: "host-12" });
      await parallel();
      const task = await applied("host-11", "host-12", "host-13");
      clock.advance(300);
      expect((await client.task(task)).result).to.deep.include({
        successful_hosts: ["host-11"],
        failed_hosts: ["host-12"],
        skipped_hosts: ["host-13"],
      });
    });

    it("finishes the hosts in work when it is cancelled, and begins no other", async () => {
      await policy({
        pre_remediation_power_action: "POWER_OFF_VMS",
        parallel_remediation_action: { enabled: true, max_hosts: 2 },
      });
      for (const id of ["host-11", "host-12", "host-13"]) await maintenance(id, "IN");
      const task = await applied("host-11", "host-12", "host-13");
      clock.advance(10);
      await client.call("POST", `/api/cis/tasks/${task}?action=cancel`);
      clock.advance(100);
      expect((await client.task(task)).result).to.deep.include({
        successful_hosts: ["host-11", "host-12"],
        skipped_hosts: ["host-13"],
      });
    });

    it("survives a failure of all of them at the same moment", async () => {
      await client.fault({ kind: "REMEDIATION_TIMES_OUT" });
      await parallel();
      for (const id of ["host-11", "host-12"]) await maintenance(id, "IN");
      const task = await applied("host-11", "host-12");
      clock.advance(100);
      const { status, result } = await client.task(task);
      expect(status).to.equal("FAILED");
      expect(result?.host_status["host-12"]?.status).to.equal("TIMED_OUT");
    });
  });

  describe("maintenance mode", () => {
    it("is refused to a second host by vSAN, and where memory is short", async () => {
      const vsan = await client.fault({ kind: "VSAN_ONE_AT_A_TIME" });
      expect((await maintenance("host-11", "IN")).status).to.equal(204);
      expect((await maintenance("host-12", "IN")).status).to.equal(409);
      await client.call("DELETE", `/simulator/faults/${vsan}`);
      await client.fault({ kind: "EVACUATION_IMPOSSIBLE", others: 1 });
      expect((await maintenance("host-12", "IN")).status).to.equal(409);
      await maintenance("host-11", "OUT");
      expect((await maintenance("host-12", "IN")).status).to.equal(204);
      expect((await maintenance("host-99", "IN")).status).to.equal(409);
    });
  });

  describe("an image with more than a base image", () => {
    const spec = {
      base_image: { version: images[1] },
      add_on: addOn,
      components: { [driver.name]: driver.version },
      hardware_support: { packages: { [firmware.manager]: { pkg: firmware.package, version: firmware.version } } },
    };
    const importSpec = async (software: object) => {
      const body = { source_type: "JSON_STRING", software_spec: JSON.stringify(software) };
      return (await client.cluster("POST", "/software/drafts?action=import-software-spec", body)).body as string;
    };
    const commit = async (software: object) => {
      const draft = await importSpec(software);
      await client.cluster("POST", `/software/drafts/${draft}?action=commit&vmw-task=true`, { message: "x" });
      clock.advance(10);
      await client.cluster("POST", "/software?action=scan&vmw-task=true");
      clock.advance(10);
    };
    const compliance = async () =>
      (await client.cluster("GET", "/software/compliance")).body as Record<string, unknown>;

    it("makes hosts of the base image alone non-compliant, until they are remediated", async () => {
      await applied("host-11");
      clock.advance(100);
      await commit(spec);
      expect(await compliance()).to.include({ status: "NON_COMPLIANT" });
      const { hosts } = (await compliance()) as {
        hosts: Record<string, { base_image: { status: string }; add_on: object; hardware_support: object }>;
      };
      expect(hosts["host-11"]?.base_image.status).to.equal("COMPLIANT");
      expect(hosts["host-11"]?.add_on).to.deep.include({ status: "NON_COMPLIANT" });
      expect(hosts["host-11"]?.hardware_support).to.have.keys(firmware.manager);
      const task = await applied("host-11");
      clock.advance(100);
      expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
      expect(await compliance()).to.deep.include({ compliant_hosts: ["host-11"] });
      expect(await host("host-11")).to.deep.include({
        extras: { addOn, components: spec.components, hardwareSupport: spec.hardware_support.packages },
      });
      const { body } = await client.cluster("GET", "/software");
      expect(body).to.deep.include({ hardware_support: spec.hardware_support });
    });

    it("says in a validation what nobody offers", async () => {
      const draft = await importSpec({
        ...spec,
        add_on: { ...addOn, version: "1" },
        components: { nvme: "2" },
        hardware_support: { packages: { "com.other": { pkg: "x", version: "1" } } },
      });
      const { body } = await client.cluster("POST", `/software/drafts/${draft}?action=validate&vmw-task=true`);
      clock.advance(10);
      const { result } = await client.task<{ errors: { message: { default_message: string } }[] }>(String(body));
      expect(result?.errors.map(({ message }) => message.default_message)).to.deep.equal([
        "There is no hardware support manager com.other.",
        "The depot has no add-on DEL-ESX 1.",
        "The depot has no component nvme 2.",
      ]);
      const { status } = await client.cluster("POST", `/software/drafts/${draft}?action=commit&vmw-task=true`, {});
      expect(status).to.equal(400);
    });

    it("cannot be applied live where a part of it needs a reboot", async () => {
      await policy({ enforce_quick_patch: true });
      await commit(spec);
      expect(await client.task(await applied("host-11"))).to.include({ status: "FAILED" });
      const { components: _, ...rebootless } = spec;
      await commit(rebootless);
      const task = await applied("host-11");
      clock.advance(20);
      expect(await client.task(task)).to.include({ status: "SUCCEEDED" });
    });

    it("is refused by a host whose component is newer, and by one that has no room", async () => {
      await commit(spec);
      await applied("host-11");
      clock.advance(100);
      await commit({ ...spec, components: { [driver.name]: "233.9-1" } });
      expect(await compliance()).to.deep.include({ incompatible_hosts: ["host-11"] });
      expect(JSON.stringify(await compliance())).to.match(/bnxt 234.0-1 of the host cannot be taken back to 233.9-1/);
      await commit(spec);
      await client.fault({ kind: "IMAGE_REFUSED", host: "host-12", message: "No space left on device" });
      await client.commit(images[2]);
      await client.cluster("POST", "/software?action=scan&vmw-task=true");
      clock.advance(20);
      expect(await compliance()).to.deep.include({ incompatible_hosts: ["host-12"] });
      expect(JSON.stringify(await compliance())).to.match(/No space left on device/);
      expect(await check()).to.equal("ERROR");
      expect(await client.task(await applied("host-12"))).to.include({ status: "FAILED" });
      expect(await host("host-12")).to.include({ maintenance: "OUT" });
    });
  });
});

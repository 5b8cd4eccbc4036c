import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { SoapClient } from "./soap-client";
import { images, type SimulatorClient, startTestSimulator, type TestClock, testConfig } from "./simulator-client";

const config = testConfig({
  clusters: [
    { id: "domain-c8", name: "prod-cl01", hosts: 1, poweredOnVms: 0 },
    { id: "domain-c47", name: "edge-cl01", hosts: 2, management: "BASELINE", poweredOnVms: 2, poweredOffVms: 1 },
  ],
});

describe("the simulator's management interface", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;
  let soap: SoapClient;
  let folder: string;

  // A host's whole upgrade takes 100 seconds.
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "simulator-"));
    ({ simulator, client, clock } = await startTestSimulator({ config, stateFile: join(folder, "state.json") }));
    soap = new SoapClient(simulator.url);
    await soap.login();
  });
  afterEach(async () => {
    await simulator.close();
    rmSync(folder, { recursive: true });
  });

  const baseline = async () => (await client.state()).clusters.find(({ id }) => id === "domain-c47")!;
  const hostState = async (id: string) => (await baseline()).hosts.find((host) => host.id === id)!;
  const steps = async () => (await client.ledger()).map(({ step, host }) => `${step} ${host ?? ""}`.trim());
  const enter = (host: string, offline = false, timeout = 0) =>
    soap.host(
      "EnterMaintenanceMode",
      host,
      `<timeout>${timeout}</timeout><evacuatePoweredOffVms>${offline}</evacuatePoweredOffVms>`,
    );

  describe("sessions", () => {
    it("are cookies; without one only the service content is answered", async () => {
      const stranger = new SoapClient(simulator.url);
      const content = await stranger.call("ServiceInstance", "ServiceInstance", "RetrieveServiceContent");
      expect(content.text).to.include('<propertyCollector type="PropertyCollector">propertyCollector<');
      expect(await stranger.read("HostSystem", "host-12", "name")).to.include({
        status: 500,
        fault: "NotAuthenticated",
      });
      expect(await stranger.login("")).to.include({ status: 500, fault: "InvalidLogin" });
    });

    it("end by a logout and by faults", async () => {
      await soap.call("SessionManager", "SessionManager", "Logout");
      expect((await soap.read("HostSystem", "host-12", "name")).fault).to.equal("NotAuthenticated");
      await soap.login();
      await client.fault({ kind: "SESSIONS_EXPIRED" });
      expect((await soap.read("HostSystem", "host-12", "name")).fault).to.equal("NotAuthenticated");
      await client.fault({ kind: "LOGIN_REFUSED", times: 1 });
      expect((await soap.login()).fault).to.equal("InvalidLogin");
      expect((await soap.login()).status).to.equal(200);
    });
  });

  describe("properties", () => {
    it("are read by path, also inside others, with their types", async () => {
      const { text } = await soap.read("HostSystem", "host-12", "name", "summary.config.product.build", "vm");
      expect(text).to.include('<name>name</name><val xsi:type="xsd:string">edge-cl01-esx-01.example.com</val>');
      expect(text).to.include('<val xsi:type="xsd:string">24755229</val>');
      expect(text).to.include(
        '<val xsi:type="ArrayOfManagedObjectReference"><ManagedObjectReference type="VirtualMachine">',
      );
    });

    it("that do not exist, and objects that do not, are faults of the product", async () => {
      const missing = await soap.read("HostSystem", "host-12", "runtime.nothing");
      expect(missing).to.include({ status: 500, fault: "InvalidProperty" });
      expect(missing.text).to.include("<name>runtime.nothing</name>");
      expect((await soap.read("HostSystem", "host-99", "name")).fault).to.equal("ManagedObjectNotFound");
      expect((await soap.call("HostSystem", "host-12", "Destroy_Task")).fault).to.equal("NotImplemented");
      expect((await soap.call("HostSystem", "host-12", "Fetch", "<prop>name</prop>")).text).to.include(
        "edge-cl01-esx-01",
      );
    });

    it("are read of a view, page by page", async () => {
      const view = await soap.call(
        "ViewManager",
        "ViewManager",
        "CreateContainerView",
        '<container type="Folder">group-d1</container><type>HostSystem</type><recursive>true</recursive>',
      );
      const id = /<returnval type="ContainerView">(.*?)</.exec(view.text)?.[1] ?? "";
      const first = await soap.call(
        "PropertyCollector",
        "propertyCollector",
        "RetrievePropertiesEx",
        `<specSet><propSet><type>HostSystem</type><pathSet>name</pathSet></propSet><objectSet><obj type="ContainerView">${id}</obj><skip>true</skip><selectSet xsi:type="TraversalSpec"><type>ContainerView</type><path>view</path></selectSet></objectSet></specSet><options><maxObjects>2</maxObjects></options>`,
      );
      const token = /<token>(.*?)</.exec(first.text)?.[1] ?? "";
      expect([...first.text.matchAll(/<obj type="HostSystem">/g)]).to.have.length(2);
      const rest = await soap.call(
        "PropertyCollector",
        "propertyCollector",
        "ContinueRetrievePropertiesEx",
        `<token>${token}</token>`,
      );
      expect([...rest.text.matchAll(/<obj type="HostSystem">/g)]).to.have.length(1);
      expect(rest.text).to.not.include("<token>");
    });
  });

  describe("changes", () => {
    const check = async (version = "") =>
      (await soap.call("PropertyCollector", "propertyCollector", "CheckForUpdates", `<version>${version}</version>`))
        .text;

    it("are told once: all of an object first, then what is different", async () => {
      const { task } = await enter("host-12");
      const spec = `<propSet><type>Task</type><pathSet>info.state</pathSet><pathSet>info.name</pathSet></propSet><objectSet><obj type="Task">${task}</obj></objectSet>`;
      const create = `<spec>${spec}</spec><partialUpdates>true</partialUpdates>`;
      const made = await soap.call("PropertyCollector", "propertyCollector", "CreateFilter", create);
      const filter = /<returnval type="PropertyFilter">([^<]+)</.exec(made.text)?.[1] ?? "";
      const first = await check();
      expect(first)
        .to.include("<kind>enter</kind>")
        .and.to.include("EnterMaintenanceMode_Task")
        .and.to.include(">running<");
      expect(await check("1")).to.not.include("filterSet");
      const waited = "<version>1</version><options><maxWaitSeconds>0</maxWaitSeconds></options>";
      const ex = await soap.call("PropertyCollector", "propertyCollector", "WaitForUpdatesEx", waited);
      expect(ex.text).to.not.include("returnval");

      const waiting = soap.call("PropertyCollector", "propertyCollector", "WaitForUpdates", "<version>1</version>");
      clock.advance(40);
      const { text } = await waiting;
      expect(text).to.include("<kind>modify</kind>").and.to.include(">success<");
      expect(text).to.not.include("EnterMaintenanceMode_Task");

      expect((await soap.call("PropertyFilter", filter, "DestroyPropertyFilter")).status).to.equal(200);
      expect((await soap.call("PropertyFilter", filter, "DestroyPropertyFilter")).fault).to.equal(
        "ManagedObjectNotFound",
      );
      expect(await check()).to.not.include("filterSet");
    });

    it("are waited for no longer than the session lives", async () => {
      const waiting = soap.call("PropertyCollector", "propertyCollector", "WaitForUpdates");
      await client.fault({ kind: "SESSIONS_EXPIRED" });
      expect((await waiting).fault).to.equal("NotAuthenticated");
    });
  });

  describe("a host", () => {
    it("goes through all steps in its time, and each is in the ledger", async () => {
      const { task } = await enter("host-12");
      clock.advance(10);
      expect(await soap.taskState(task)).to.include({ state: "running", percent: 40 });
      clock.advance(15);
      expect(await soap.taskState(task)).to.include({ state: "success" });
      expect(await hostState("host-12")).to.include({ maintenance: "IN", poweredOnVms: 0, poweredOffVms: 1 });
      await soap.install("host-12");
      clock.advance(30);
      expect((await soap.read("HostSystem", "host-12", "summary.rebootRequired")).text).to.include(">true<");
      await soap.host("RebootHost", "host-12", "<force>false</force>");
      clock.advance(6);
      expect(await hostState("host-12")).to.include({ connection: "NOT_RESPONDING", version: images[0] });
      clock.advance(30);
      expect(await hostState("host-12")).to.include({ connection: "CONNECTED", version: images[1] });
      await soap.host("ExitMaintenanceMode", "host-12", "<timeout>0</timeout>");
      clock.advance(10);
      expect(await hostState("host-12")).to.include({ maintenance: "OUT", poweredOnVms: 2 });
      expect(await steps()).to.deep.equal(
        [
          "MAINTENANCE_REQUESTED",
          "MAINTENANCE_ENTERED",
          "APPLY_STARTED",
          "REMEDIATED",
          "REBOOT_REQUESTED",
          "REBOOTED",
          "MAINTENANCE_EXITED",
        ].map((step) => `${step} host-12`),
      );
    });

    it("does one thing at a time, and only what its state allows", async () => {
      expect((await soap.install("host-12")).fault).to.equal("InvalidState");
      expect((await soap.host("RebootHost", "host-12", "<force>false</force>")).fault).to.equal("InvalidState");
      expect((await soap.host("ExitMaintenanceMode", "host-12")).fault).to.equal("InvalidState");
      await enter("host-12");
      expect((await enter("host-12")).fault).to.equal("TaskInProgress");
      clock.advance(25);
      expect((await enter("host-12")).fault).to.equal("InvalidState");
      await client.fault({ kind: "OPERATION_IN_PROGRESS", times: 1 });
      expect((await soap.install("host-12")).fault).to.equal("TaskInProgress");
    });

    it("stays where it is while its virtual machines have nowhere to go, until that is cancelled or timed out", async () => {
      await enter("host-13");
      clock.advance(25);
      const { task } = await enter("host-12");
      clock.advance(1000);
      expect(await soap.taskState(task)).to.include({ state: "running" });
      await soap.call("Task", task, "CancelTask");
      expect(await soap.taskState(task)).to.include({ state: "error", error: "RequestCanceled" });
      expect(await hostState("host-12")).to.include({ maintenance: "OUT" });
      const timed = await enter("host-12", false, 60);
      clock.advance(60);
      expect(await soap.taskState(timed.task)).to.include({ state: "error", error: "Timedout" });
    });

    it("finds no patch where the depot has none", async () => {
      await enter("host-12");
      clock.advance(25);
      const { task } = await soap.install("host-12", "<metaUrls>http://elsewhere.example.com/m.zip</metaUrls>");
      clock.advance(30);
      expect(await soap.taskState(task)).to.include({ state: "error", error: "PatchMetadataNotFound" });
    });

    it("goes on over a restart of the simulator", async () => {
      await enter("host-12");
      clock.advance(25);
      await soap.install("host-12");
      clock.advance(10);
      await soap.read("HostSystem", "host-12", "name");
      await simulator.close();
      ({ simulator, client } = await startTestSimulator({ config, clock, stateFile: join(folder, "state.json") }));
      clock.advance(20);
      expect(await hostState("host-12")).to.include({ maintenance: "IN" });
      expect(await steps()).to.include("REMEDIATED host-12");
    });

    it("of an image-managed cluster can be looked at, and be put into maintenance mode and out of it", async () => {
      expect((await soap.host("RebootHost", "host-11", "<force>false</force>")).fault).to.equal("NotSupported");
      await enter("host-11");
      clock.advance(25);
      const maintenance = async () =>
        (await client.state()).clusters.flatMap(({ hosts }) => hosts).find(({ id }) => id === "host-11")?.maintenance;
      expect(await maintenance()).to.equal("IN");
      await soap.host("ExitMaintenanceMode", "host-11", "<timeout>0</timeout>");
      clock.advance(10);
      expect(await maintenance()).to.equal("OUT");
      expect((await soap.read("HostSystem", "host-11", "vm")).text).to.include("VirtualMachine");
    });
  });

  describe("virtual machines and settings of an image-managed cluster", () => {
    const image = testConfig({
      clusters: [
        { id: "domain-c8", name: "prod-cl01", hosts: 2, poweredOnVms: 2, poweredOffVms: 1, admissionControl: true },
      ],
    });
    const powers = async () => {
      const { text } = await soap.call(
        "PropertyCollector",
        "propertyCollector",
        "RetrievePropertiesEx",
        `<specSet><propSet><type>VirtualMachine</type><pathSet>runtime.host</pathSet><pathSet>runtime.powerState</pathSet></propSet><objectSet><obj type="ClusterComputeResource">domain-c8</obj><skip>true</skip><selectSet xsi:type="TraversalSpec"><type>ClusterComputeResource</type><path>host</path><skip>true</skip><selectSet xsi:type="TraversalSpec"><type>HostSystem</type><path>vm</path></selectSet></selectSet></objectSet></specSet><options/>`,
      );
      const found = [
        ...text.matchAll(/<obj type="VirtualMachine">(.*?)<\/obj>.*?>(host-\d+)<.*?>(powered\w+|suspended)</g),
      ];
      return Object.fromEntries(found.map(([, vm = "", host = "", power = ""]) => [vm, `${host} ${power}`]));
    };
    const change = async (vm: string, method: string) => {
      expect((await soap.call("VirtualMachine", vm, `${method}_Task`)).task).to.not.equal("");
      clock.advance(2);
    };
    beforeEach(async () => {
      await simulator.close();
      const stateFile = join(folder, "image.json");
      ({ simulator, client, clock } = await startTestSimulator({ config: image, clock, stateFile }));
      soap = new SoapClient(simulator.url);
      await soap.login();
    });

    it("can be changed, and stay the same ones while hosts are emptied in whatever way", async () => {
      const before = await powers();
      expect(Object.values(before).sort()).to.deep.equal(
        ["host-11", "host-12"].flatMap((host) => [`${host} poweredOff`, `${host} poweredOn`, `${host} poweredOn`]),
      );
      const [first = "", second = ""] = Object.keys(before);
      await change(second, "PowerOffVM");
      expect(await powers()).to.deep.equal({ ...before, [second]: "host-11 poweredOff" });
      // By the lifecycle manager, which counts; and by this interface, with those that are off.
      await client.call("PATCH", "/simulator/hosts/host-12", { maintenance: "IN" });
      await client.call("PATCH", "/simulator/hosts/host-12", { maintenance: "OUT" });
      await enter("host-11", true);
      clock.advance(25);
      expect(new Set(Object.values(await powers()).map((told) => told.split(" ")[0]))).to.deep.equal(
        new Set(["host-12"]),
      );
      expect((await powers())[first]).to.equal("host-12 poweredOn");
      await soap.host("ExitMaintenanceMode", "host-11", "<timeout>0</timeout>");
      clock.advance(10);
      expect(await powers()).to.deep.equal({ ...before, [second]: "host-11 poweredOff" });
      await change(second, "PowerOnVM");
      expect(await powers()).to.deep.equal(before);
      expect(
        (await client.ledger()).filter(({ step }) => step === "VM_POWER_CHANGED").map(({ detail }) => detail),
      ).to.deep.equal([`${second} poweredOff`, `${second} poweredOn`]);
    });

    it("can be switched, and only what was on counts as switched off", async () => {
      const spec = `<spec xsi:type="ClusterConfigSpecEx"><dasConfig><admissionControlEnabled>false</admissionControlEnabled></dasConfig></spec><modify>true</modify>`;
      await soap.call("ClusterComputeResource", "domain-c8", "ReconfigureComputeResource_Task", spec);
      clock.advance(5);
      expect((await client.state()).clusters[0]).to.include({ admissionControl: false });
      expect((await client.ledger()).map(({ step, detail }) => `${step} ${detail}`)).to.deep.equal([
        "SETTINGS_SWITCHED_OFF admissionControl",
      ]);
    });
  });

  describe("faults", () => {
    it("that meet calls are narrowed by the name of a method", async () => {
      await client.fault({ kind: "SERVICE_UNAVAILABLE", path: "/sdk/RebootHost", times: 1 });
      expect((await soap.read("HostSystem", "host-12", "name")).status).to.equal(200);
      expect((await soap.host("RebootHost", "host-12")).status).to.equal(503);
    });

    it("keep a host away until they are taken back, then it is on its old version", async () => {
      await client.fault({ kind: "HOST_NEVER_RECONNECTS", host: "host-12", times: 1 });
      await enter("host-12");
      clock.advance(25);
      await soap.install("host-12");
      clock.advance(30);
      await soap.host("RebootHost", "host-12", "<force>false</force>");
      clock.advance(1000);
      expect(await hostState("host-12")).to.include({ connection: "NOT_RESPONDING" });
      await client.call("DELETE", "/simulator/faults");
      expect(await hostState("host-12")).to.include({ connection: "CONNECTED", version: images[0] });
      expect((await soap.read("HostSystem", "host-12", "summary.rebootRequired")).text).to.include(">false<");
    });

    it("make the component manager forget tasks, which go on", async () => {
      const { task } = await enter("host-12");
      await client.fault({ kind: "TASKS_FORGOTTEN", cluster: "domain-c47" });
      expect((await soap.read("Task", task, "info")).fault).to.equal("ManagedObjectNotFound");
      expect((await soap.read("HostSystem", "host-12", "recentTask")).text).to.not.include(task);
      clock.advance(25);
      expect(await hostState("host-12")).to.include({ maintenance: "IN" });
    });

    it("make a host slow from maintenance mode to maintenance mode", async () => {
      await client.fault({ kind: "HOST_SLOW", host: "host-12", factor: 10, times: 1 });
      const { task } = await enter("host-12");
      clock.advance(249);
      expect(await soap.taskState(task)).to.include({ state: "running" });
      clock.advance(1);
      expect(await soap.taskState(task)).to.include({ state: "success" });
    });
  });
});

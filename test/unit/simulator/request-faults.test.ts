import { expect } from "chai";
import type { RunningSimulator } from "../../../src/simulator/start-simulator";
import { eventually } from "../../support/eventually";
import { nsxConfig, NsxTestClient } from "./nsx-client";
import { images, type SimulatorClient, startTestSimulator, testConfig, type TestClock } from "./simulator-client";
import { SoapClient } from "./soap-client";

const page = "<html><body>Bad gateway</body></html>";

describe("calls to the simulator that are not answered as they should be", () => {
  let simulator: RunningSimulator;
  let client: SimulatorClient;
  let clock: TestClock;

  beforeEach(async () => {
    const config = { ...testConfig(), nsxManagers: nsxConfig().nsxManagers! };
    ({ simulator, client, clock } = await startTestSimulator({ config }));
  });
  afterEach(() => simulator.close());

  const raw = async (method: string, path: string) => {
    const response = await fetch(`${simulator.url}${path}`, { method, headers: { authorization: "Basic YTpi" } });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const isCut = (call: Promise<unknown>) =>
    call.then(
      () => false,
      () => true,
    );
  const count = async (step: string) => (await client.ledger()).filter((entry) => entry.step === step).length;

  describe("ANSWERS", () => {
    const answer = { status: 502, contentType: "text/html", body: page };

    for (const [product, path] of [
      ["the lifecycle manager", "/api/esx/settings/clusters/domain-c8/software"],
      ["the appliance", "/api/appliance/system/version"],
      ["a NETVIRT manager", "/nsx/nsx-01/api/v1/upgrade/summary"],
      ["a NETVIRT manager at the root", "/api/v1/upgrade/summary"],
    ] as const)
      it(`meets ${product}, so many times`, async () => {
        await client.fault({ kind: "ANSWERS", method: "GET", path, ...answer, times: 1 });
        expect(await raw("GET", path)).to.deep.equal({ status: 502, type: "text/html", text: page });
        expect((await raw("GET", path)).text).not.to.equal(page);
      });

    it("meets one operation of the management interface, and no other", async () => {
      const soap = new SoapClient(simulator.url);
      await soap.login();
      const body = `<Envelope><Body><Fault><faultstring>gone</faultstring></Fault></Body></Envelope>`;
      const fault = { path: "/sdk/RetrievePropertiesEx", status: 500, contentType: "text/xml", body };
      await client.fault({ kind: "ANSWERS", ...fault });
      expect(await soap.read("HostSystem", "host-11", "name")).to.include({ status: 500, text: body });
      expect(await soap.host("EnterMaintenanceMode", "host-14", "<timeout>0</timeout>")).to.include({ status: 200 });
    });

    it("is in force for so many seconds", async () => {
      await client.fault({ kind: "ANSWERS", path: "/api/esx", status: 404, seconds: 25 });
      clock.advance(24);
      expect((await raw("GET", "/api/esx/settings/clusters/domain-c8/software")).status).to.equal(404);
      clock.advance(1);
      expect((await client.cluster("GET", "/software")).status).to.equal(200);
    });

    it("does nothing of what was asked for, or loses only the answer of what was done", async () => {
      await client.commit(images[1]);
      clock.advance(10);
      const fault = { kind: "ANSWERS", path: "action=apply", status: 500, body: "{}", contentType: "application/json" };
      await client.fault({ ...fault, times: 1 });
      expect(await client.apply("host-11")).to.deep.equal({ status: 500, body: {} });
      expect(await count("APPLY_REQUESTED")).to.equal(0);
      await client.fault({ ...fault, times: 1, after: true });
      expect(await client.apply("host-11")).to.deep.equal({ status: 500, body: {} });
      expect(await count("APPLY_REQUESTED")).to.equal(1);
    });

    it("can be 200 with a body of another type, and 204 without any", async () => {
      const path = "/api/appliance/system/version";
      await client.fault({ kind: "ANSWERS", path, status: 200, contentType: "text/plain", body: "ok", times: 1 });
      expect(await raw("GET", path)).to.deep.equal({ status: 200, type: "text/plain", text: "ok" });
      await client.fault({ kind: "ANSWERS", path, status: 204, body: "ok", times: 1 });
      expect(await raw("GET", path)).to.include({ status: 204, text: "" });
    });

    it("is refused with the name of the wrong field", async () => {
      const post = async (fault: object) =>
        ((await client.call("POST", "/simulator/faults", { kind: "ANSWERS", ...fault })).body as { errors: string[] })
          .errors;
      expect(await post({})).to.deep.equal(["status: must be a whole number from 200 to 599, it is missing"]);
      expect(await post({ status: 199 })).to.deep.equal(["status: must be a whole number from 200 to 599, not 199"]);
      expect(await post({ status: 200, contentType: "a\nb" })).to.deep.equal([
        'contentType: must be a content type of 1 to 255 printable ASCII characters, not "a\\nb"',
      ]);
      expect(await post({ status: 200, body: {} })).to.deep.equal(["body: must be string, not {}"]);
      expect(await post({ status: 200, milliseconds: 1 })).to.deep.equal(["milliseconds: there is no such field"]);
    });
  });

  describe("LATE", () => {
    const maintenance = "/sdk/EnterMaintenanceMode_Task";
    let soap: SoapClient;
    beforeEach(async () => {
      soap = new SoapClient(simulator.url);
      await soap.login();
    });
    const enter = () => soap.host("EnterMaintenanceMode", "host-14", "<timeout>0</timeout>");

    it("cuts the connection, and does the work when the caller has gone", async () => {
      await client.fault({ kind: "LATE", path: maintenance, milliseconds: 50, times: 1 });
      expect(await isCut(enter())).to.equal(true);
      expect(await count("MAINTENANCE_REQUESTED")).to.equal(0);
      await eventually(
        () => count("MAINTENANCE_REQUESTED"),
        (requested) => requested === 1,
      );
    });

    it("reads what is asked for before it cuts the connection", async () => {
      await client.fault({ kind: "LATE", method: "PUT", path: "/policies/apply", milliseconds: 1, times: 1 });
      const call = client.cluster("PUT", "/policies/apply", { disable_hac: true });
      expect(await isCut(call)).to.equal(true);
      await eventually(client.clusterState.bind(client), ({ policy }) => "disable_hac" in policy);
    });

    it("can hold the connection without an answer instead", async () => {
      await client.fault({ kind: "LATE", path: maintenance, milliseconds: 1, hold: true, times: 1 });
      let isAnswered = false;
      const call = enter().finally(() => (isAnswered = true));
      const ended = isCut(call);
      await eventually(
        () => count("MAINTENANCE_REQUESTED"),
        (requested) => requested === 1,
      );
      expect(isAnswered).to.equal(false);
      await simulator.close();
      expect(await ended).to.equal(true);
      ({ simulator, client } = await startTestSimulator());
    });

    it("never does what a reset has come before", async () => {
      const nsx = new NsxTestClient(simulator.url);
      const put = async (component: string) => {
        await client.fault({ kind: "LATE", path: `/plan/${component}/settings`, milliseconds: 50, times: 1 });
        const settings = { parallel: false, pause_on_error: true };
        expect(await isCut(nsx.call("PUT", `/plan/${component}/settings`, settings))).to.equal(true);
      };
      await put("HOST");
      await client.call("POST", "/simulator/reset");
      // Whoever calls later and waits as long is carried out later: the first would have been by then.
      await put("EDGE");
      const entries = await eventually(
        () => nsx.ledger("NSX_SETTINGS_SET"),
        (ledger) => ledger.length > 0,
      );
      expect(entries.map(({ detail }) => detail?.split(" ")[0])).to.deep.equal(["EDGE"]);
    });

    it("meets NETVIRT managers too", async () => {
      const nsx = new NsxTestClient(simulator.url);
      await client.fault({ kind: "LATE", method: "PUT", path: "/plan/HOST/settings", milliseconds: 1, times: 1 });
      const settings = { parallel: false, pause_on_error: true };
      expect(await isCut(nsx.call("PUT", "/plan/HOST/settings", settings))).to.equal(true);
      await eventually(
        () => nsx.ledger("NSX_SETTINGS_SET"),
        (ledger) => ledger.length === 1,
      );
    });
  });
});

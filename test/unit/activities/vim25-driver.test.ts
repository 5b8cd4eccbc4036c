import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { DriverError } from "../../../activities/drivers/driver-error";
import { answerOf } from "../../../activities/drivers/vim25/soap";
import { createVim25Client, type Vim25Client } from "../../../activities/drivers/vim25/vim25-client";
import { leased } from "../../support/activity-environment";

interface Received {
  readonly method: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}
type Answer = { readonly status?: number; readonly xml: string; readonly headers?: Record<string, string> };

const envelope = (body: string) =>
  `<?xml version="1.0"?><S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><S:Body>${body}</S:Body></S:Envelope>`;
const response = (method: string, content = ""): Answer => ({
  xml: envelope(`<${method}Response xmlns="urn:vim25">${content}</${method}Response>`),
});
const fault = (type: string, text = "It said no.", fields = ""): Answer => ({
  status: 500,
  xml: envelope(
    `<S:Fault><faultcode>ServerFaultCode</faultcode><faultstring>${text}</faultstring><detail><${type}Fault xmlns="urn:vim25" i:type="${type}">${fields}</${type}Fault></detail></S:Fault>`,
  ),
});
const content = `<returnval><rootFolder type="Folder">group-d1</rootFolder><propertyCollector type="PropertyCollector">pc</propertyCollector><sessionManager type="SessionManager">sm</sessionManager><about><fullName>Manager 8</fullName><apiVersion>8.0.3.0</apiVersion></about></returnval>`;
const taskAnswer = (method: string) => response(method, '<returnval type="Task">task-1</returnval>');

describe("the driver of the management interface", () => {
  let server: Server;
  let client: Vim25Client;
  let received: Received[];
  let logins: number;
  /** What each method answers; those that are not named here succeed with a task. */
  let answers: Record<string, (call: Received) => Answer>;

  beforeEach(async () => {
    received = [];
    logins = 0;
    answers = {
      RetrieveServiceContent: () => response("RetrieveServiceContent", content),
      Login: () => ({
        ...response("Login", "<returnval><key>k</key></returnval>"),
        headers: { "set-cookie": `vmware_soap_session="session-${++logins}"; Path=/; Secure; HttpOnly` },
      }),
      Logout: () => response("Logout"),
    };
    server = createServer((request, reply) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const method = /<soapenv:Body><(\w+) /.exec(body)?.[1] ?? "";
        const call = { method, body, headers: request.headers };
        received.push(call);
        const { status = 200, xml, headers = {} } = (answers[method] ?? (() => taskAnswer(method)))(call);
        reply.writeHead(status, { "content-type": "text/xml", ...headers }).end(xml);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const access = { id: "vc-01", url: `http://127.0.0.1:${port}`, username: "svc", password: 'p<a>"ss&' };
    client = leased(createVim25Client(access, { callTimeout: 2_000 }));
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const bodyOf = (method: string) => received.findLast((call) => call.method === method)?.body ?? "";
  const failing = async (work: Promise<unknown>): Promise<DriverError> => {
    const error: unknown = await work.then(
      () => new Error("it succeeded"),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof DriverError)) throw error;
    return error;
  };

  describe("sessions", () => {
    it("logs in once for many calls, in the version that the manager speaks, with the password escaped", async () => {
      await Promise.all([client.exitMaintenanceMode("host-1"), client.rebootHost("host-2")]);
      expect(logins).to.equal(1);
      expect(bodyOf("Login")).to.include("<userName>svc</userName><password>p&lt;a&gt;");
      const call = received.findLast(({ method }) => method === "RebootHost_Task");
      expect(call?.headers["cookie"]).to.equal('vmware_soap_session="session-1"');
      expect(call?.headers["soapaction"]).to.equal('"urn:vim25/8.0.3.0"');
    });

    it("logs in again where the session has expired, whether a fault says so or a property is withheld", async () => {
      let calls = 0;
      answers["ExitMaintenanceMode_Task"] = () =>
        ++calls === 1 ? fault("NotAuthenticated") : taskAnswer("ExitMaintenanceMode_Task");
      expect(await client.exitMaintenanceMode("host-1")).to.equal("task-1");
      expect(logins).to.equal(2);

      const withheld = `<returnval><objects><obj type="Task">task-1</obj><missingSet><path>info</path><fault><fault i:type="NotAuthenticated"/><localizedMessage/></fault></missingSet></objects></returnval>`;
      const info = `<returnval><objects><obj type="Task">task-1</obj><propSet><name>info</name><val i:type="TaskInfo"><key>task-1</key><descriptionId>HostSystem.reboot</descriptionId><state>running</state><cancelable>false</cancelable><queueTime>2026-11-21T10:00:00Z</queueTime><progress>42</progress></val></propSet></objects></returnval>`;
      let reads = 0;
      answers["RetrievePropertiesEx"] = () => response("RetrievePropertiesEx", ++reads === 1 ? withheld : info);
      expect(await client.readTask("task-1")).to.include({ state: "running", progress: 42 });
      expect(logins).to.equal(3);
    });

    it("gives up where the new session is not accepted either", async () => {
      answers["RebootHost_Task"] = () => fault("NotAuthenticated");
      expect(await failing(client.rebootHost("host-1"))).to.include({ kind: "permanent", code: "AUTHENTICATION" });
      expect(logins).to.equal(2);
    });
  });

  describe("requests", () => {
    it("name the object and give the parameters in the order of the schema", async () => {
      await client.enterMaintenanceMode("host-12", { evacuatePoweredOffVms: true });
      expect(bodyOf("EnterMaintenanceMode_Task")).to.include(
        '<EnterMaintenanceMode_Task xmlns="urn:vim25"><_this type="HostSystem">host-12</_this><timeout>0</timeout><evacuatePoweredOffVms>true</evacuatePoweredOffVms></EnterMaintenanceMode_Task>',
      );
    });

    it("change only the settings that are given, as the cluster's extended specification", async () => {
      await client.reconfigureCluster("domain-c1", { admissionControl: false });
      const body = bodyOf("ReconfigureComputeResource_Task");
      expect(body).to.include(
        '<spec xsi:type="ClusterConfigSpecEx"><dasConfig><admissionControlEnabled>false</admissionControlEnabled></dasConfig></spec><modify>true</modify>',
      );
      await client.reconfigureCluster("domain-c1", { dpm: true });
      expect(bodyOf("ReconfigureComputeResource_Task")).to.include(
        '<spec xsi:type="ClusterConfigSpecEx"><dpmConfig><enabled>true</enabled></dpmConfig></spec>',
      );
    });

    it("go to the host's own patch manager, with every URL", async () => {
      answers["RetrievePropertiesEx"] = () =>
        response(
          "RetrievePropertiesEx",
          `<returnval><objects><obj type="HostSystem">host-1</obj><propSet><name>configManager.patchManager</name><val i:type="ManagedObjectReference" type="HostPatchManager">patchManager-7</val></propSet></objects></returnval>`,
        );
      await client.installPatch("host-1", { metadataUrls: ["http://depot/a.zip", "http://depot/b.zip?x=1&y=2"] });
      expect(bodyOf("InstallHostPatchV2_Task")).to.include(
        '<_this type="HostPatchManager">patchManager-7</_this><metaUrls>http://depot/a.zip</metaUrls><metaUrls>http://depot/b.zip?x=1&amp;y=2</metaUrls></InstallHostPatchV2_Task>',
      );
    });

    it("read an answer to its last page", async () => {
      const page = (id: string, token = "") =>
        `<returnval>${token}<objects><obj type="VirtualMachine">${id}</obj><propSet><name>name</name><val i:type="xsd:string">${id} &#34;x&#34;</val></propSet><propSet><name>runtime.host</name><val type="HostSystem">host-1</val></propSet><propSet><name>runtime.powerState</name><val>poweredOn</val></propSet></objects></returnval>`;
      answers["RetrievePropertiesEx"] = () => response("RetrievePropertiesEx", page("vm-1", "<token>more</token>"));
      answers["ContinueRetrievePropertiesEx"] = () => response("ContinueRetrievePropertiesEx", page("vm-2"));
      expect(await client.listVms("domain-c1")).to.deep.equal([
        { vm: "vm-1", name: 'vm-1 "x"', host: "host-1", power: "poweredOn", powerChanging: false },
        { vm: "vm-2", name: 'vm-2 "x"', host: "host-1", power: "poweredOn", powerChanging: false },
      ]);
      expect(bodyOf("ContinueRetrievePropertiesEx")).to.include("<token>more</token>");
    });
  });

  describe("errors", () => {
    const classifications: [string, string, string][] = [
      ["InvalidLogin", "permanent", "AUTHENTICATION"],
      ["NoPermission", "permanent", "AUTHORIZATION"],
      ["ManagedObjectNotFound", "permanent", "RESOURCE_NOT_FOUND"],
      ["TaskInProgress", "transient", "CLUSTER_BUSY"],
      ["ResourceInUse", "transient", "CLUSTER_BUSY"],
      ["HostNotConnected", "transient", "HOST_NOT_CONNECTED"],
      ["InvalidState", "permanent", "COMPONENT_MANAGER_REFUSED"],
      ["NotSupported", "permanent", "COMPONENT_MANAGER_REFUSED"],
      ["SystemError", "permanent", "COMPONENT_MANAGER_ERROR"],
      ["SomethingNew", "permanent", "COMPONENT_MANAGER_REFUSED"],
    ];
    for (const [type, kind, code] of classifications) {
      it(`judge ${type} as ${kind} ${code}, in the product's words`, async () => {
        answers["RebootHost_Task"] = () => fault(type, "The host is odd &amp; &quot;new&quot;.");
        const error = await failing(client.rebootHost("host-1"));
        expect(error).to.include({ kind, code, errorType: type });
        expect(error.message).to.equal(`Could not restart host-1: vc-01 answered ${type}: The host is odd & "new".`);
        expect(error.causes).to.deep.equal(['The host is odd & "new".']);
      });
    }

    it("are refused for good where something is to be changed, and may pass where it is only read", async () => {
      for (const type of ["NoPermission", "SomethingNew", "MethodNotFound"]) {
        answers["RebootHost_Task"] = answers["CurrentTime"] = () => fault(type);
        expect((await failing(client.rebootHost("host-1"))).inWork, type).to.equal(undefined);
        expect((await failing(client.readTime())).inWork, type).to.equal("AWAY");
      }
    });

    it("say nothing of what was asked where they have no type", async () => {
      const untyped = "<S:Fault><faultcode>S:Server</faultcode><faultstring>Starting.</faultstring></S:Fault>";
      answers["RebootHost_Task"] = () => ({
        ...fault("x"),
        xml: fault("x").xml.replace(/<S:Fault>.*<\/S:Fault>/, untyped),
      });
      expect(await failing(client.rebootHost("host-1"))).to.include({
        inWork: "AWAY",
        code: "COMPONENT_MANAGER_ERROR",
      });
    });

    it("take a power state that is so already for done, another one not", async () => {
      const states = (requested: string, existing: string) => () =>
        fault(
          "InvalidPowerState",
          "No.",
          `<requestedState>${requested}</requestedState><existingState>${existing}</existingState>`,
        );
      answers["PowerOnVM_Task"] = states("poweredOn", "poweredOn");
      expect((await failing(client.changeVmPower("vm-1", "PowerOnVM"))).kind).to.equal("alreadyDone");
      answers["PowerOnVM_Task"] = states("poweredOn", "suspended");
      expect((await failing(client.changeVmPower("vm-1", "PowerOnVM"))).kind).to.equal("permanent");
    });

    it("judge what is no SOAP by its status", async () => {
      const page = "<html><body>Sorry</body></html>";
      answers["RebootHost_Task"] = () => ({ status: 503, xml: page });
      expect(await failing(client.rebootHost("host-1"))).to.include({
        kind: "transient",
        code: "COMPONENT_MANAGER_UNREACHABLE",
        status: 503,
      });
      answers["RebootHost_Task"] = () => ({ xml: page });
      expect(await failing(client.rebootHost("host-1"))).to.include({
        kind: "permanent",
        code: "COMPONENT_MANAGER_ANSWER_INVALID",
      });
      expect(answerOf("RebootHost_Task", "<S:Envelope><unclosed>")._tag).to.equal("NotSoap");
    });

    it("judge a manager that does not answer as unreachable, without its password", async () => {
      const access = { id: "vc-02", url: "http://127.0.0.1:1", username: "svc", password: "secret" };
      const unreachable = createVim25Client(access, { callTimeout: 500 });
      const error = await failing(unreachable.readTime());
      expect(error).to.include({ kind: "transient", code: "COMPONENT_MANAGER_UNREACHABLE" });
      expect(error.message).to.not.include("secret");
      await unreachable.close();
    });
  });
});

import { images } from "./simulator-client";

const patch = `<metaUrls>http://depot.example.com/hostos/${images[1]}/metadata.zip</metaUrls>`;

/** Speaks SOAP as plain text, so that nothing of the driver is needed to read what the simulator says. */
export class SoapClient {
  private cookie = "";
  constructor(private readonly url: string) {}

  async call(type: string, id: string, method: string, content = "") {
    const response = await fetch(`${this.url}/sdk`, {
      method: "POST",
      headers: { "content-type": "text/xml", ...(this.cookie && { cookie: this.cookie }) },
      body: `<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><${method} xmlns="urn:vim25"><_this type="${type}">${id}</_this>${content}</${method}></soapenv:Body></soapenv:Envelope>`,
    });
    const text = await response.text();
    this.cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? this.cookie;
    const [, fault] = /<detail><(\w+)Fault /.exec(text) ?? [];
    const [, task] = /<returnval type="Task">(.*?)</.exec(text) ?? [];
    return { status: response.status, text, fault, task: task ?? "" };
  }

  login(password = "secret") {
    const content = `<userName>svc</userName><password>${password}</password>`;
    return this.call("SessionManager", "SessionManager", "Login", content);
  }

  read(type: string, id: string, ...paths: string[]) {
    const pathSet = paths.map((path) => `<pathSet>${path}</pathSet>`).join("");
    const content = `<specSet><propSet><type>${type}</type>${pathSet}</propSet><objectSet><obj type="${type}">${id}</obj></objectSet></specSet><options/>`;
    return this.call("PropertyCollector", "propertyCollector", "RetrievePropertiesEx", content);
  }

  host(method: string, host: string, content = "") {
    return this.call("HostSystem", host, `${method}_Task`, content);
  }
  install(host: string, urls = patch) {
    const id = host.replace("host-", "patchManager-");
    return this.call("HostPatchManager", id, "InstallHostPatchV2_Task", urls);
  }
  async taskState(task: string) {
    const { text } = await this.read("Task", task, "info");
    return {
      state: /<state[^>]*>(\w+)</.exec(text)?.[1],
      error: /<fault xsi:type="(\w+)"/.exec(text)?.[1],
      percent: Number(/<progress>(\d+)</.exec(text)?.[1] ?? "-1"),
    };
  }
}

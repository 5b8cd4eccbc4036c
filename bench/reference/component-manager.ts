import { setTimeout as pause } from "node:timers/promises";
import type { Pool } from "undici";

/** Sessions of both interfaces of the component manager. */
export interface Login {
  readonly session: string;
  readonly cookie: string;
}

interface TaskInfo {
  readonly status: string;
  readonly result?: unknown;
}

interface Compliance {
  readonly hosts: Readonly<Record<string, { readonly status: string }>>;
}

/** As often as the service looks at a remediation that progresses (`POLL_MIN_MILLISECONDS`). */
const pollMilliseconds = 250;

const softwareService = "com.vmware.esx.settings.clusters.software";

/** The calls that the service's driver makes, as few lines as they can be made with; counted, never repeated. */
export class ComponentManager {
  /** Calls until now. */
  calls = 0;

  constructor(
    private readonly pool: Pool,
    private readonly login: Login,
  ) {}

  static async logIn(pool: Pool): Promise<Login> {
    const credentials = Buffer.from("bench:bench").toString("base64");
    const { body } = await pool.request({
      method: "POST",
      path: "/api/session",
      headers: { authorization: `Basic ${credentials}` },
    });
    const session = (await body.json()) as string;
    const soap = await pool.request({
      method: "POST",
      path: "/sdk",
      headers: soapHeaders,
      body: envelope(
        `<Login xmlns="urn:vim25"><_this type="SessionManager">SessionManager</_this><userName>bench</userName><password>bench</password></Login>`,
      ),
    });
    await soap.body.dump();
    const [cookie = ""] = String(soap.headers["set-cookie"]).split(";");
    return { session, cookie };
  }

  async listHosts(cluster: string): Promise<string[]> {
    const hosts = (await this.call("GET", `api/vcenter/host?clusters=${cluster}`)) as { readonly host: string }[];
    return hosts.map(({ host }) => host);
  }

  /** Which hosts of a cluster are in maintenance mode; only the SOAP interface tells. */
  async readMaintenance(cluster: string): Promise<string> {
    this.calls += 1;
    const { statusCode, body } = await this.pool.request({
      method: "POST",
      path: "/sdk",
      headers: { ...soapHeaders, cookie: this.login.cookie },
      body: envelope(maintenanceQuery(cluster)),
    });
    const answer = await body.text();
    if (statusCode !== 200) throw new Error(`The component manager answered ${statusCode}: ${answer}`);
    return answer;
  }

  listUnfinishedTasks(): Promise<unknown> {
    return this.call("GET", `api/cis/tasks?services=${softwareService}&status=PENDING&status=RUNNING&status=BLOCKED`);
  }

  async readCompliance(cluster: string): Promise<Compliance> {
    return (await this.call("GET", `${software(cluster)}/compliance`)) as Compliance;
  }

  readDesiredImage(cluster: string): Promise<unknown> {
    return this.call("GET", software(cluster));
  }

  readLastResult(cluster: string): Promise<unknown> {
    return this.call("GET", `${software(cluster)}/reports/last-apply-result`, undefined, [200, 404]);
  }

  /** Makes the image of a version the desired one and scans the cluster; returns the commit. */
  async setDesiredImage(cluster: string, version: string): Promise<string> {
    const draft = (await this.call("POST", `${software(cluster)}/drafts`)) as string;
    const path = `${software(cluster)}/drafts/${draft}`;
    await this.call("PUT", `${path}/software/base-image`, { version });
    const commit = (await this.runTask(path, "commit", { message: "bench" })) as string;
    await this.runTask(software(cluster), "scan");
    return commit;
  }

  async check(cluster: string): Promise<void> {
    await this.runTask(software(cluster), "check", {});
  }

  async remediate(cluster: string, host: string, commit: string): Promise<void> {
    await this.runTask(software(cluster), "apply", { hosts: [host], accept_eula: true, commit });
  }

  /** Starts a task and waits for its end; returns its result. Throws where it fails. */
  private async runTask(path: string, action: string, body?: object): Promise<unknown> {
    const task = (await this.call("POST", `${path}?action=${action}&vmw-task=true`, body)) as string;
    for (;;) {
      const { status, result } = (await this.call("GET", `api/cis/tasks/${encodeURIComponent(task)}`)) as TaskInfo;
      if (status === "SUCCEEDED") return result;
      if (status === "FAILED") throw new Error(`${action} of ${path} failed`);
      await pause(pollMilliseconds);
    }
  }

  private async call(
    method: "GET" | "POST" | "PUT",
    path: string,
    json?: object,
    expected: readonly number[] = [200, 201, 202, 204],
  ): Promise<unknown> {
    this.calls += 1;
    const { statusCode, body } = await this.pool.request({
      method,
      path: `/${path}`,
      headers: {
        "vmware-api-session-id": this.login.session,
        ...(json && { "content-type": "application/json" }),
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    const answer = await body.text();
    if (!expected.includes(statusCode))
      throw new Error(`The component manager answered ${statusCode} to ${path}: ${answer}`);
    return answer === "" ? undefined : (JSON.parse(answer) as unknown);
  }
}

const software = (cluster: string) => `api/esx/settings/clusters/${cluster}/software`;

const soapHeaders = { "content-type": 'text/xml; charset="utf-8"', soapaction: '"urn:vim25/8.0.3.0"' };

function envelope(body: string): string {
  const namespaces =
    'xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  return `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope ${namespaces}><soapenv:Body>${body}</soapenv:Body></soapenv:Envelope>`;
}

function maintenanceQuery(cluster: string): string {
  const recentTasks =
    '<selectSet xsi:type="TraversalSpec"><type>HostSystem</type><path>recentTask</path><skip>false</skip></selectSet>';
  return [
    '<RetrievePropertiesEx xmlns="urn:vim25"><_this type="PropertyCollector">propertyCollector</_this><specSet>',
    "<propSet><type>HostSystem</type><pathSet>runtime.inMaintenanceMode</pathSet></propSet>",
    "<propSet><type>Task</type><pathSet>info</pathSet></propSet>",
    `<objectSet><obj type="ClusterComputeResource">${cluster}</obj><skip>true</skip>`,
    '<selectSet xsi:type="TraversalSpec"><type>ClusterComputeResource</type><path>host</path><skip>false</skip>',
    `${recentTasks}</selectSet></objectSet></specSet><options/></RetrievePropertiesEx>`,
  ].join("");
}

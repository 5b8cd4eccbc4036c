import { freePorts } from "../../support/service/deployment";
import { KeptAlive } from "../../e2e/production/kept-alive";

/** What a proxy does to one direction of its connections: `upstream` is what the client sends. */
export interface Toxic {
  readonly type: "latency" | "timeout" | "reset_peer" | "slicer" | "bandwidth" | "limit_data";
  readonly stream: "upstream" | "downstream";
  /** Share of the connections that it concerns; default all. */
  readonly toxicity?: number;
  /** Toxiproxy's own: milliseconds, bytes, KB/s, of the slicer microseconds. */
  readonly attributes: Readonly<Record<string, number>>;
}

const host = "127.0.0.1";

/** Toxiproxy's server, by its HTTP API; made ready by `npm test -- resilience/network`. */
export class Toxiproxy {
  private constructor(
    private readonly server: KeptAlive,
    private readonly url: string,
  ) {}

  /** The seed decides which connections a toxic concerns that does not concern all. */
  static async start(seed: number): Promise<Toxiproxy> {
    const program = process.env["TOXIPROXY"];
    if (program === undefined)
      throw new Error("TOXIPROXY is not set: run these tests by npm test -- resilience/network");
    const { port } = await freePorts("port");
    const url = `http://${host}:${port}`;
    const isUp = () =>
      fetch(`${url}/version`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    const args = ["-host", host, "-port", String(port), "-seed", String(seed)];
    const server = new KeptAlive({ what: "Toxiproxy", program, args, options: { env: { LOG_LEVEL: "error" } }, isUp });
    await server.start();
    return new Toxiproxy(server, url);
  }

  stop(): Promise<unknown> {
    return this.server.stop();
  }

  /** Puts a proxy before `host:port`. */
  async before(name: string, upstream: string): Promise<Proxy> {
    // Port 0 is no choice: one that the system gives may be taken by a connection while the proxy is switched off.
    const { port } = await freePorts("port");
    await this.ask("POST", "/proxies", { name, listen: `${host}:${port}`, upstream, enabled: true });
    return new Proxy(port, (method, path, body) => this.ask(method, `/proxies/${name}${path}`, body));
  }

  private async ask(method: string, path: string, body?: unknown): Promise<void> {
    const answer = await fetch(this.url + path, {
      method,
      signal: AbortSignal.timeout(10_000),
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok)
      throw new Error(`Toxiproxy answered ${method} ${path} with ${answer.status}: ${await answer.text()}`);
  }
}

/** One proxy; without a toxic it passes everything on. */
export class Proxy {
  private readonly added: string[] = [];

  constructor(
    readonly port: number,
    private readonly ask: (method: string, path: string, body?: unknown) => Promise<void>,
  ) {}

  async add(toxic: Toxic): Promise<void> {
    const name = `${toxic.type}-${toxic.stream}`;
    await this.ask("POST", "/toxics", { name, toxicity: 1, ...toxic });
    this.added.push(name);
  }

  /** Switched off, it refuses connections and has closed those that there were. */
  enable(enabled: boolean): Promise<void> {
    return this.ask("POST", "", { enabled });
  }

  /** Passes everything on again. */
  async heal(): Promise<void> {
    for (const name of this.added.splice(0)) await this.ask("DELETE", `/toxics/${name}`);
    await this.enable(true);
  }
}

import { createServer, request, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** Headers whose values let somebody in. */
const secretHeaders = ["authorization", "cookie", "set-cookie", "vmware-api-session-id", "x-xsrf-token"];

/** Stands between the service and the component managers, and notes by what credentials and sessions they talk. */
export class WireTap {
  /** What was seen, each once: `authorization: Basic …`, `session: …`, a cookie by its name. */
  readonly seen = new Map<string, string>();
  /** Where requests go; those that come before it is set are answered with 503. */
  target: string | undefined;
  private readonly server: Server;

  private constructor() {
    this.server = createServer((incoming, outgoing) => {
      void buffer(incoming).then((body) => {
        const { target } = this;
        if (target === undefined) return outgoing.writeHead(503).end();
        this.note(incoming.headers);
        const { method, headers, url } = incoming;
        const passed = request(target + (url ?? "/"), { method, headers, agent: false }, (answer) => {
          void buffer(answer).then(
            (content) => {
              this.note(answer.headers);
              if (/^\/(api|rest).*\/session$/.test(url ?? "") && method === "POST")
                this.noteSession(content.toString());
              outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(content);
            },
            () => outgoing.destroy(),
          );
        });
        passed.on("error", () => outgoing.destroy()).end(body);
        return undefined;
      });
    });
  }

  static async start(): Promise<WireTap> {
    const tap = new WireTap();
    await new Promise<void>((listening) => tap.server.listen(0, "127.0.0.1", listening));
    return tap;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private note(headers: IncomingHttpHeaders): void {
    for (const name of secretHeaders)
      for (const value of [headers[name] ?? []].flat())
        for (const secret of secretsIn(name, value)) this.seen.set(`${name} ${secret}`, secret);
  }

  private noteSession(body: string): void {
    const [, id] = /"([^"]{8,})"/.exec(body) ?? [];
    if (id !== undefined) this.seen.set(`session ${id}`, id);
  }
}

/** The parts of a header's value that are secret: of cookies their values, of others what follows the scheme. */
function secretsIn(name: string, value: string): string[] {
  if (name === "cookie") return value.split(";").map((cookie) => valueOfCookie(cookie));
  if (name === "set-cookie") return [valueOfCookie(value.split(";")[0] ?? "")];
  return [value.replace(/^\w+ /, "")];
}

function valueOfCookie(cookie: string): string {
  return cookie
    .slice(cookie.indexOf("=") + 1)
    .trim()
    .replaceAll('"', "");
}

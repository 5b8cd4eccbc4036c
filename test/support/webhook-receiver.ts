import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CloudEvent, HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";

export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly event: CloudEvent<unknown>;
  /** As it came. */
  readonly body: string;
}

/** A receiver of notifications as somebody else would write it: it takes what the two standards' libraries accept. */
export class WebhookReceiver {
  /** What was taken, in order. */
  readonly received: ReceivedNotification[] = [];
  /** Bodies that were not signed by the secret, or are no CloudEvents. */
  readonly refused: string[] = [];
  /** How the next requests are answered; none means never. */
  status: number | undefined = 204;
  /** Headers of the answers, beside that of a redirect. */
  headers: Readonly<Record<string, string>> = {};
  /** Whether an answer never comes to its end. */
  endless = false;
  private server: Server | undefined;
  private port = 0;

  constructor(private readonly secret: string) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks/t0ken?key=query-t0ken`;
  }

  /** Listens; after a stop on the same port again. */
  async start(): Promise<void> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.on("end", () => {
        if (this.status === undefined) return;
        const taken = this.take(request.headers, body);
        response.writeHead(taken ? this.status : 401, { location: `${this.url}/elsewhere`, ...this.headers });
        if (this.endless) this.talk(response);
        else response.end("secret words");
      });
    });
    await new Promise<void>((listening) => server.listen(this.port, "127.0.0.1", listening));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }

  /** Says more as long as anybody listens. */
  private talk(response: ServerResponse): void {
    const words = setInterval(() => response.write("secret words"), 1);
    response.on("close", () => {
      clearInterval(words);
      this.hungUp();
    });
  }

  private hungUp: () => void = () => undefined;
  /** Settles when somebody has stopped listening to an endless answer. */
  readonly unheard = new Promise<void>((resolve) => (this.hungUp = resolve));

  private take(headers: IncomingHttpHeaders, body: string): boolean {
    try {
      new Webhook(this.secret).verify(body, headers as Record<string, string>);
      const event = HTTP.toEvent({ headers, body }) as CloudEvent<unknown>;
      event.validate();
      this.received.push({ headers, event, body });
      return true;
    } catch {
      this.refused.push(body);
      return false;
    }
  }
}

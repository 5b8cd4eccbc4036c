import { Agent, request, type IncomingHttpHeaders } from "node:http";

/** An answer, and how long it took, in milliseconds. Status 0: the connection broke, `body` says why. */
export interface TimedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly milliseconds: number;
}

/** What to send. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request with its answer. */
type Sent = readonly [Message, TimedAnswer];

const tickMilliseconds = 10;

/** Sends requests to one API by connections that are kept; many at a time cost little. */
export class Sender {
  private readonly agent = new Agent({ keepAlive: true, maxFreeSockets: Infinity });

  constructor(private readonly url: string) {}

  close(): void {
    this.agent.destroy();
  }

  send({ method, path, headers = {}, body }: Message): Promise<TimedAnswer> {
    const began = performance.now();
    return new Promise((resolve) => {
      const done = (status: number, received: IncomingHttpHeaders, text: string) =>
        resolve({ status, headers: received, body: text, milliseconds: performance.now() - began });
      const sent = request(this.url + path, {
        agent: this.agent,
        method,
        headers: {
          authorization: "Bearer test",
          ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...headers,
        },
      });
      sent.on("error", (error) => done(0, {}, String(error)));
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => done(response.statusCode ?? 0, response.headers, text));
        response.on("error", (error) => done(0, {}, String(error)));
      });
      sent.end(body);
    });
  }

  /** Opens so many connections, which are kept for the requests after it. */
  async openConnections(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.send({ method: "GET", path: "/health/live" })));
  }

  private async sent(message: Message): Promise<Sent> {
    return [message, await this.send(message)];
  }

  /** So many at a time, the next when one is answered, until the time is over. */
  async closedLoop(atOnce: number, milliseconds: number, next: () => Message): Promise<Sent[]> {
    const answers: Sent[] = [];
    const end = performance.now() + milliseconds;
    const one = async () => {
      while (performance.now() < end) answers.push(await this.sent(next()));
    };
    await Promise.all(Array.from({ length: atOnce }, one));
    return answers;
  }

  /** So many a second, whatever becomes of those before; resolves when all are answered. */
  async openLoop(perSecond: number, milliseconds: number, next: () => Message): Promise<Sent[]> {
    const began = performance.now();
    const answers: Promise<Sent>[] = [];
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const passed = Math.min(performance.now() - began, milliseconds);
        while (answers.length < (passed / 1000) * perSecond) answers.push(this.sent(next()));
        if (passed < milliseconds) return;
        clearInterval(timer);
        resolve();
      }, tickMilliseconds);
    });
    return Promise.all(answers);
  }
}

/** The value below which so great a part of the values lies. */
export function quantile(part: number, values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

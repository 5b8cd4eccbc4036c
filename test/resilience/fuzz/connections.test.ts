import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { until } from "../../support/service/deployment";
import { parseAnswers } from "../../unit/api/api-under-test";
import { expectHarmless, soon, type AttackedService } from "./attacked-service";
import { head, malformed, smuggling, type Shape } from "./shapes";
import { RawConnection, sendRaw, type Received } from "./raw-connection";
import { tally } from "./tally";
import { useAttackedService } from "./use-attacked-service";

/** How long a connection may last whatever is sent on it: the limits of headers and of a body, on a slow machine. */
const longest = 120_000;
/** Codes of refusals that come when a limit of time has passed. */
const late = new Set(["REQUEST_TIMEOUT", "BODY_TIMEOUT"]);

const preview = "POST /v1/upgrades/preview HTTP/1.1";
const codec = "POST /codec/encode HTTP/1.1";

/** Counts what came back, and asserts that it is whole answers in their time, none of them the service's own failure. */
function account(kind: string, what: string, { text, milliseconds, isClosed }: Received): void {
  expect(isClosed, `${what} is still open, with ${JSON.stringify(text.slice(0, 300))}`).to.equal(true);
  const answers = parseAnswers(text).filter(({ status }) => status !== 100);
  for (const answer of answers) {
    expectHarmless(answer, "GET", what);
    const waited = [...late].some((code) => answer.text.includes(code));
    if (!waited) expect(milliseconds, what).to.be.lessThan(soon);
    tally.count(kind, answer.status, waited ? 0 : milliseconds);
  }
  if (answers.length === 0) tally.count(kind, "closed");
}

/** One of the services that are attacked: its name, it, and how much of an attack it gets. */
interface Way {
  readonly name: string;
  readonly service: () => AttackedService;
  readonly some: (many: number) => number;
}

/** What is done to each of the services, by the title of its test. */
function attacks({ name, service, some }: Way): Readonly<Record<string, () => Promise<void>>> {
  async function sendAll(kind: string, shapes: readonly Shape[]): Promise<void> {
    await Promise.all(
      shapes.map(async ({ what, bytes, end = false }) => {
        account(`${name}: ${kind}`, what, await sendRaw(service(), bytes, { end, limit: longest }));
      }),
    );
  }

  /** Opens connections, a hundred at a time. */
  async function open(count: number, use: (connection: RawConnection) => void): Promise<RawConnection[]> {
    const all: RawConnection[] = [];
    while (all.length < count) {
      const some = Array.from(
        { length: Math.min(100, count - all.length) },
        () => new RawConnection(service(), longest),
      );
      await Promise.all(some.map((one) => one.opened()));
      for (const one of some) use(one);
      all.push(...some);
    }
    return all;
  }

  return {
    "have what is malformed answered with an Error, or are closed": () => sendAll("malformed requests", malformed),

    async "hide no request from whoever stands before the service"() {
      await sendAll("smuggled requests", smuggling);
      // When a request that is answered later than any of them is in the log, they are as well.
      await service().expectAlive();
      const last = `/v1/upgrades/${randomUUID()}`;
      await service().ask("is it in the log?", { method: "GET", path: last });
      await until("the last request is in the log", () => service().hasServed(last));
      const served = smuggling.filter(({ hidden }) => hidden !== undefined && service().hasServed(hidden));
      expect(served.map(({ what }) => what)).to.deep.equal([]);
    },

    async "end although what is sent on them does not"() {
      const endless: Readonly<Record<string, readonly [start: string, part: string]>> = {
        "a request line": ["GET /", "x".repeat(1000)],
        headers: ["GET / HTTP/1.1\r\n", "X: x\r\n".repeat(100)],
        "one header": ["GET / HTTP/1.1\r\nX: ", "x".repeat(1000)],
        "empty lines": ["", "\r\n".repeat(1000)],
        "a body": [head(preview, "Content-Length: 1000000000000"), " ".repeat(65_536)],
        chunks: [head(preview, "Transfer-Encoding: chunked"), `8000\r\n${" ".repeat(0x8000)}\r\n`],
        "chunks of the codec": [head(codec, "Transfer-Encoding: chunked"), `8000\r\n${" ".repeat(0x8000)}\r\n`],
        "chunks of a byte": [head(preview, "Transfer-Encoding: chunked"), "1\r\n \r\n".repeat(1000)],
        "a chunk extension": [`${head(preview, "Transfer-Encoding: chunked")}2;`, "a=b;".repeat(1000)],
        "a chunk size": [head(preview, "Transfer-Encoding: chunked"), "0".repeat(1000)],
        trailers: [`${head(preview, "Transfer-Encoding: chunked")}0\r\n`, "X: x\r\n".repeat(100)],
        requests: ["", "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\nnonsense\r\n\r\n"],
      };
      await Promise.all(
        Object.entries(endless).map(async ([what, [start, part]]) => {
          const connection = new RawConnection(service(), longest);
          connection.socket.write(start);
          connection.sendForEver(part);
          const received = await connection.received;
          // Time is not looked at: the sender is as busy as the service.
          account(`${name}: endless requests`, what, { ...received, milliseconds: 0 });
        }),
      );
    },

    async "are let go when nothing comes, or a byte at a time, and keep nobody else waiting"() {
      const held = {
        idle: await open(some(2000), () => undefined),
        "idle after a request": await open(some(500), ({ socket }) =>
          socket.write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        ),
        "slow headers": await open(some(500), (one) =>
          one.drip("GET / HTTP/1.1\r\nHost: localhost\r\nX: slow\r\n", 1000),
        ),
        "slow bodies": await open(some(200), (one) => {
          one.socket.write(head(preview, "Content-Length: 1000"));
          one.drip(" ", 1000);
        }),
        "slow chunks": await open(some(100), (one) => {
          one.socket.write(head(preview, "Transfer-Encoding: chunked"));
          one.drip("1\r\n \r\n", 1000);
        }),
      };
      const all = Object.values(held).flat();
      const stillOpen = all.filter(({ socket }) => !socket.destroyed).length;
      tally.note(`${name}: ${stillOpen} of ${all.length} connections were held at the same time`);
      // A slow machine lets the first ones go before the last ones are open.
      expect(stillOpen, "connections that are open at the same time").to.be.greaterThan(all.length / 10);
      for (let i = 0; i < 5; i++) await service().expectAlive();
      for (const [what, connections] of Object.entries(held))
        for (const { received } of connections) account(`${name}: held, ${what}`, what, await received);
    },

    async "cost little while their clients read nothing"() {
      const { id } = await service().startDraft();
      const before = service().memory("VmRSS");
      const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
      const unread = (text: string) => (one: RawConnection) => {
        one.socket.pause();
        one.socket.write(text);
      };
      const slow = [
        ...(await open(some(100), unread(get("/openapi.json").repeat(40)))),
        ...(await open(some(50), unread(get(`/v1/tasks/${id}/events`)))),
        ...(await open(some(50), unread(get("/v1/upgrades?pageSize=1000").repeat(20)))),
      ];
      for (let i = 0; i < 5; i++) await service().expectAlive();
      const growth = service().memory("VmRSS") - before;
      tally.note(`memory of the API, ${name}, while ${slow.length} clients read nothing: ${growth >> 20} MiB more`);
      expect(growth).to.be.lessThan(300 * 2 ** 20);
      for (const one of slow) {
        tally.count(`${name}: answers that nobody reads`, "closed");
        one.reset();
      }
      await service().cancel(id);
    },

    async "may be broken off at any moment"() {
      const { id } = await service().startDraft();
      const whole = `${head(preview, "Content-Length: 2")}{}`;
      for (const text of [
        "",
        "GET",
        "GET / HTTP/1.1\r\nHost: localhost",
        head(preview, "Content-Length: 100"),
        `${head(preview, "Transfer-Encoding: chunked")}ff\r\n{`,
        whole,
        whole.repeat(50),
        `GET /v1/tasks/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`,
        "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20),
      ]) {
        const broken = await open(some(50), ({ socket }) => socket.write(text));
        // Half of them as soon as something has come back, where something does.
        await Promise.race([
          broken[0]!.firstByte,
          service().ask("is it alive?", { method: "GET", path: "/health/live" }),
        ]);
        for (const one of broken) one.reset();
        for (const one of broken) {
          await one.received;
          tally.count(`${name}: broken off`, "closed");
        }
      }
      await service().cancel(id);
    },

    async "may bring a thousand requests at once, which are answered in their order"() {
      const asked = Array.from(
        { length: 1000 },
        (_, i) =>
          `GET /nowhere/${i} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: n-${i}\r\n${i === 999 ? "Connection: close\r\n" : ""}\r\n`,
      );
      const { text } = await sendRaw(service(), asked.join(""), { limit: longest });
      const received = parseAnswers(text);
      for (const { status } of received) tally.count(`${name}: pipelined`, status);
      // The connection may be refused in the middle, after answers: headers that wait for 10 s on a slow machine, and
      // by TLS what Node has decrypted while its parser pauses.
      const isCutOff = received.at(-1)?.status === 400;
      const answers = isCutOff ? received.slice(0, -1) : received;
      expect(answers.length).to.be.within(isCutOff ? 100 : 1000, 1000);
      expect(answers.map(({ headers }) => headers["x-request-id"])).to.deep.equal(answers.map((_, i) => `n-${i}`));
    },
  };
}

describe("connections, in plain and by TLS at the same time, that break rules or are held", function () {
  this.timeout(300_000);
  const plain: Way = { name: "connections", service: useAttackedService("connections"), some: (many) => many };
  const byTls: Way = {
    name: "connections by TLS",
    service: useAttackedService("connections by TLS", { tls: true }),
    some: (many) => many / 5,
  };
  const onTls = attacks(byTls);
  for (const [title, attack] of Object.entries(attacks(plain)))
    it(title, () => Promise.all([attack(), onTls[title]!()]));

  it("that never become TLS are closed, and hold nobody up", async () => {
    const plain = { port: byTls.service().port, ca: undefined };
    // The first bytes of a ClientHello that says that it is longer.
    const hello = Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, ...Array<number>(40).fill(7)]);
    const shapes: Readonly<Record<string, string | Buffer>> = {
      "plain HTTP": "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "a handshake that stops": hello,
      "a handshake that is nonsense": Buffer.concat([hello, Buffer.alloc(1000, 0xff)]),
      "a record that is too long": Buffer.from([0x16, 3, 3, 0xff, 0xff, ...Array<number>(70_000).fill(1)]),
      "an alert": Buffer.from([0x15, 3, 3, 0, 2, 2, 40]),
      "SSL 2": Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10]),
      nothing: "",
    };
    const sent = Object.entries(shapes).flatMap(([what, bytes]) =>
      Array.from({ length: 50 }, async () => {
        const { text, isClosed } = await sendRaw(plain, bytes, { limit: longest });
        expect(isClosed, what).to.equal(true);
        expect(text, "nothing but an alert is told in plain").not.to.contain("HTTP/");
        tally.count("what never becomes TLS", "closed");
      }),
    );
    await byTls.service().expectAlive();
    await Promise.all(sent);
  });
});

import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { upgradeSpecExample } from "../../../src/api/openapi/examples";
import { defaultLimits } from "../../../src/api/request-body";
import {
  type Answer,
  type ApiUnderTest,
  expectError,
  parseAnswers,
  sendRaw,
  sendRawAndEnd,
  startApiUnderTest,
} from "./api-under-test";

const head = (...headers: string[]) =>
  [
    "POST /v1/upgrades HTTP/1.1",
    "Host: localhost",
    "Authorization: x",
    "Content-Type: application/json",
    ...headers,
    "",
    "",
  ].join("\r\n");
const text = JSON.stringify(upgradeSpecExample);

/** Sends parts of a request for ever, each when the one before has left, until the other side closes. */
async function sendForEver(port: number, start: string, part: string): Promise<{ answers: Answer[]; bytes: number }> {
  const socket = connect(port, "127.0.0.1");
  const received: Buffer[] = [];
  socket.on("data", (data) => received.push(data));
  socket.on("error", () => undefined);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const more = () => {
    if (!socket.destroyed) socket.write(part, more);
  };
  socket.write(start, more);
  await closed;
  return { answers: parseAnswers(Buffer.concat(received).toString()), bytes: socket.bytesWritten };
}

describe("hostile requests", () => {
  let api: ApiUnderTest;
  before(async () => {
    api = await startApiUnderTest({
      limits: { ...defaultLimits, body: { ...defaultLimits.body, milliseconds: 200 } },
      connectionLimits: { headers: 300, request: 600, checkInterval: 20, keepAlive: 200 },
    });
  });
  beforeEach(() => (api.calls.started.length = 0));
  after(() => api.close());

  const expectOne = (answers: Answer[], code: string, status = 400) => {
    expect(answers).to.have.length(1);
    const body = expectError(answers[0]!, status, code);
    expect(answers[0]!.headers["connection"]).to.equal("close");
    expect(api.calls.started).to.deep.equal([]);
    return body;
  };

  describe("in their length", () => {
    it("are refused by their Content-Length before a byte of the body comes", async () => {
      const answers = await sendRaw(api.port, head("Content-Length: 104857600"), "");
      expectOne(answers, "BODY_TOO_LARGE");
    });

    it("are answered although the client sends all of a body that is too long first", async () => {
      const answers = await sendRaw(api.port, head("Content-Length: 20000000"), Buffer.alloc(20_000_000, " "));
      expectOne(answers, "BODY_TOO_LARGE");
    });

    it("are refused when chunks never end, and then cut off", async () => {
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      const { answers } = await sendForEver(api.port, head("Transfer-Encoding: chunked"), chunk);
      expectOne(answers, "BODY_TOO_LARGE");
    }).timeout(10_000);

    it("may not promise more than they send", async () => {
      const promised = sendRaw(api.port, head(`Content-Length: ${text.length + 1}`), text);
      expectOne(await promised, "BODY_TIMEOUT");
    }).timeout(10_000);

    it("are incomplete where the client ends its side before the last byte", async () => {
      const promised = head(`Content-Length: ${text.length + 1}`) + text;
      expectOne(await sendRawAndEnd(api.port, promised), "BODY_INCOMPLETE");
      const chunk = `${head("Transfer-Encoding: chunked")}ff\r\n{`;
      expectOne(await sendRawAndEnd(api.port, chunk), "BODY_INCOMPLETE");
      expectOne(
        await sendRawAndEnd(api.port, "POST /v1/upgrades HTTP/1.1\r\nHost: localhost\r\nX-Cut"),
        "MALFORMED_HTTP",
      );
    });

    it("are nothing to a client that ends its side without one", async () => {
      expect(await sendRawAndEnd(api.port, "")).to.deep.equal([]);
    });

    it("are nothing to a client that hangs up", async () => {
      const socket = connect(api.port, "127.0.0.1");
      socket.end(head("Content-Length: 100") + "{");
      await once(socket.resume(), "close");
      expect(api.calls.started).to.deep.equal([]);
    });

    it("may not send more than they promise; what was received in full keeps its answer", async () => {
      const promised = head(`Content-Length: ${Buffer.byteLength(text)}`) + text;
      const answers = await sendRaw(api.port, `${promised}trailing garbage\r\n\r\n`);
      expect(answers.map(({ status }) => status)).to.deep.equal([202, 400]);
      expectError(answers[1]!, 400, "MALFORMED_HTTP");
      expect(api.calls.started).to.have.length(1);
    });

    for (const [what, headers] of [
      ["negative", ["Content-Length: -1"]],
      ["not a number", ["Content-Length: 0x10"]],
      ["given twice", ["Content-Length: 2", "Content-Length: 3"]],
      ["beside chunks", ["Content-Length: 2", "Transfer-Encoding: chunked"]],
    ] as const) {
      it(`are refused where Content-Length is ${what}`, async () => {
        expectOne(await sendRaw(api.port, head(...headers), "{}"), "MALFORMED_HTTP");
      });
    }

    it("are refused where a chunk is no chunk", async () => {
      const answers = await sendRaw(api.port, head("Transfer-Encoding: chunked"), "zz\r\n{}\r\n0\r\n\r\n");
      expectError(answers[0]!, 400, "MALFORMED_HTTP");
    });
  });

  describe("in their time", () => {
    it("are refused when the body comes too slowly", async () => {
      const answers = await sendRaw(api.port, head(`Content-Length: ${text.length}`), "{");
      expectOne(answers, "BODY_TIMEOUT");
    }).timeout(10_000);

    it("are refused when the headers come too slowly", async () => {
      expectOne(await sendRaw(api.port, "POST /v1/upgrades HTTP/1.1\r\nHost: localhost\r\nX-Slow"), "REQUEST_TIMEOUT");
    }).timeout(10_000);

    it("do not keep an idle connection", async () => {
      const answers = await sendRaw(api.port, "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
      expect(answers.map(({ status }) => status)).to.deep.equal([200]);
    }).timeout(10_000);
  });

  describe("in their headers", () => {
    it("are refused when longer than 16 KiB", async () => {
      expectOne(await sendRaw(api.port, head(`X-Long: ${"x".repeat(20_000)}`)), "HEADERS_TOO_LARGE");
      expectOne(
        await sendRaw(api.port, `GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
        "HEADERS_TOO_LARGE",
      );
    });

    it("are refused with two Authorization headers", async () => {
      const answers = await sendRaw(api.port, head("Authorization: y", "Connection: close", "Content-Length: 0"));
      expectOne(answers, "INVALID_PARAMETER");
    });

    it("are refused with two Idempotency-Key headers", async () => {
      const answers = await sendRaw(
        api.port,
        head("Idempotency-Key: a", "Idempotency-Key: b", "Connection: close", `Content-Length: ${text.length}`),
        text,
      );
      expect(expectOne(answers, "INVALID_PARAMETER").context).to.deep.equal({ path: "Idempotency-Key" });
    });

    it("may carry an Authorization of 8 KiB", async () => {
      const long = head(`Authorization: ${"x".repeat(8192)}`, "Connection: close", `Content-Length: ${text.length}`);
      const [answer] = await sendRaw(api.port, long.replace("Authorization: x\r\n", ""), text);
      expect(answer?.status).to.equal(202);
      expect(JSON.stringify(api.logLines)).to.not.contain("xxxxxxxx");
    });

    it("need one Host", async () => {
      for (const hosts of ["", "Host: localhost\r\nHost: b\r\n"]) {
        const [answer] = await sendRaw(api.port, `GET /health/live HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
        expectError(answer!, 400, "MALFORMED_HTTP");
      }
    });

    it("count as many as there are", async () => {
      const many = Array.from({ length: 300 }, (_, i) => `X-${i}: x`);
      const request = `GET /v1/upgrades HTTP/1.1\r\n${many.join("\r\n")}\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
      expect((await sendRaw(api.port, request)).map(({ status }) => status)).to.deep.equal([200]);
      const post = head(...many, "Idempotency-Key: k", "Connection: close", `Content-Length: ${text.length}`) + text;
      expect((await sendRaw(api.port, post)).map(({ status }) => status)).to.deep.equal([202]);
      expect(api.calls.started[0]?.idempotencyKey).to.equal("k");
      api.calls.started.length = 0;
      expectOne(await sendRaw(api.port, head(...many, "Authorization: y", "Connection: close")), "INVALID_PARAMETER");
    });

    it("may repeat a Content-Type, as the Terraform provider does, but not name another one", async () => {
      const repeated = head("Content-Type: application/json", "Connection: close", `Content-Length: ${text.length}`);
      expect((await sendRaw(api.port, repeated, text)).map(({ status }) => status)).to.deep.equal([202]);
      api.calls.started.length = 0;
      const twice = head("Content-Type: text/plain", "Connection: close", `Content-Length: ${text.length}`);
      expect(expectOne(await sendRaw(api.port, twice, text), "INVALID_PARAMETER").context).to.deep.equal({
        path: "Content-Type",
      });
    });

    it("are refused with a Transfer-Encoding beside chunked", async () => {
      const chunks = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
      const compressed = head("Transfer-Encoding: gzip, chunked", "Connection: close") + chunks;
      expectOne(await sendRaw(api.port, compressed), "UNSUPPORTED_CONTENT_ENCODING");
      const plain = head("Transfer-Encoding: Chunked", "Connection: close") + chunks;
      expect((await sendRaw(api.port, plain)).map(({ status }) => status)).to.deep.equal([202]);
    });

    it("may expect what the service does not know", async () => {
      const [answer] = await sendRaw(
        api.port,
        "GET /health/live HTTP/1.1\r\nHost: localhost\r\nExpect: the-unexpected\r\nConnection: close\r\n\r\n",
      );
      expect(answer?.status).to.equal(200);
    });

    it("cannot break out of the request id", async () => {
      const [answer] = await sendRaw(
        api.port,
        `GET /nothing HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${"x".repeat(129)}\r\nConnection: close\r\n\r\n`,
      );
      expect(expectError(answer!, 404, "PATH_NOT_FOUND").referenceToken).to.match(/^[0-9a-f-]{36}$/);
    });
  });

  for (const [what, bytes] of [
    ["no HTTP", "hello\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3])],
    ["a header with a control character", "GET / HTTP/1.1\r\nHost: localhost\r\nX: \u0000\r\n\r\n"],
    ["a tunnel", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n"],
    ["a method that is none", "get /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ] as const) {
    it(`that are ${what} get an Error`, async () => {
      expectOne(await sendRaw(api.port, bytes), "MALFORMED_HTTP");
    });
  }

  for (const target of ["http://[/v1/upgrades", "http://"]) {
    it(`to the target ${target} get an Error and a log line`, async () => {
      const [answer, ...others] = await sendRaw(
        api.port,
        `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      );
      expect(others).to.deep.equal([]);
      const { referenceToken } = expectError(answer!, 400, "MALFORMED_URL");
      expect(api.logLines.find(({ requestId }) => requestId === referenceToken)).to.include({ status: 400 });
    });
  }

  it("may name the service in their target", async () => {
    const request = "GET http://a:99/health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    expect((await sendRaw(api.port, request)).map(({ status }) => status)).to.deep.equal([200]);
  });

  it("may come in one piece, one after the other", async () => {
    const one = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const answers = await sendRaw(api.port, one.repeat(20) + one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 21 }, () => 200));
  });

  it("leave the service working and no error in its log", async () => {
    const [answer] = await sendRaw(
      api.port,
      head("Connection: close", `Content-Length: ${Buffer.byteLength(text)}`),
      text,
    );
    expect(answer?.status).to.equal(202);
    expect(api.logLines.filter(({ level }) => level >= 50)).to.deep.equal([]);
  });
});

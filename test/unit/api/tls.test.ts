import { once } from "node:events";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { connect as connectPlainly } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { createApi } from "../../../src/api/create-api";
import { type RunningApi, startApi } from "../../../src/api/start-api";
import { renewedTls, type RenewedTls, type TlsFiles } from "../../../src/api/tls-files";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { type Certified, testAuthority, type TestAuthority } from "../../support/certificates";
import { eventually } from "../../support/eventually";
import { secretScan } from "../../support/secret-scan";
import { expectError, fakeService, type LogLine, memoryLog, parseAnswers } from "./api-under-test";

describe("the API by TLS", () => {
  let authority: TestAuthority;
  let folder: string;
  let files: TlsFiles;
  let api: RunningApi | undefined;
  let lines: LogLine[];

  before(async () => (authority = await testAuthority("authority of the tests")));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "ums-tls-"));
    files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem"), clientCaFile: undefined };
    write(await authority.issue("first"));
  });

  afterEach(async () => {
    await api?.close();
    api = undefined;
    rmSync(folder, { recursive: true });
  });

  /** Replaces both files, each in one step. */
  function write({ cert, key }: Certified) {
    for (const [file, content] of [
      [files.keyFile, key],
      [files.certFile, cert],
    ] as const) {
      writeFileSync(`${file}.new`, content, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    }
  }

  function usable(wanted: TlsFiles, warn = (_: string) => {}): RenewedTls {
    const tls = renewedTls(wanted, warn, 10);
    if (E.isLeft(tls)) throw new Error(tls.left);
    return tls.right;
  }

  async function start(wanted = files, warn?: (message: string) => void): Promise<number> {
    const memory = memoryLog();
    lines = memory.lines;
    const service = fakeService({ started: [], listed: [], read: [], asked: [] });
    const { log } = memory;
    const app = createApi({ service, authentication: devAuthentication, log, version: "1" });
    api = await startApi(app, { host: "127.0.0.1", port: 0, log, limits: { close: 50 }, tls: usable(wanted, warn) });
    expect(api.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    return Number(new URL(api.url).port);
  }

  async function get(port: number, path: string, options: ConnectionOptions = {}) {
    const agent = new Agent({ ca: authority.cert, ...options });
    try {
      const asked = request({ host: "127.0.0.1", port, path, agent }).end();
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers };
    } finally {
      agent.destroy();
    }
  }

  async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
    const socket = connect({ host: "127.0.0.1", port, ca: authority.cert, ...options });
    await once(socket, "secureConnect");
    return socket;
  }

  it("answers, and tells browsers to stay with TLS, in errors too", async () => {
    const port = await start();
    for (const [path, status] of [
      ["/health/live", 200],
      ["/nowhere", 404],
    ] as const) {
      const answer = await get(port, path);
      expect([answer.status, answer.headers["strict-transport-security"]]).to.deep.equal([status, "max-age=31536000"]);
    }
  });

  it("tells the same where the request is no HTTP", async () => {
    const socket = await handshake(await start(), {});
    socket.end("NONSENSE\r\n\r\n");
    const [answer] = parseAnswers(await text(socket));
    expect(answer?.headers["strict-transport-security"]).to.equal("max-age=31536000");
    if (answer) expectError(answer, 400, "MALFORMED_HTTP");
  });

  it("offers TLS 1.2 and 1.3, and nothing older", async () => {
    const port = await start();
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const socket = await handshake(port, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).to.equal(version);
      socket.destroy();
    }
    // Security level 0 lets the client itself offer what is broken.
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const refused: unknown = await handshake(port, old).catch((error: unknown) => error);
    expect(refused).to.have.property("code", "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
  });

  it("uses renewed files without a restart, and keeps the connections that there are", async () => {
    const port = await start();
    const before = await handshake(port, {});
    expect(before.getPeerCertificate().subject.CN).to.equal("first");
    write(await authority.issue("second"));
    await eventually(
      async () => {
        const socket = await handshake(port, {});
        const { CN } = socket.getPeerCertificate().subject;
        socket.destroy();
        return CN;
      },
      (name) => name === "second",
    );
    before.write("GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    expect(await text(before)).to.match(/^HTTP\/1\.1 200 /);
    expect(lines.some(({ msg }) => msg === "TLS certificate renewed")).to.equal(true);
  });

  it("keeps the certificate while its files cannot be used, and says so once without what is in them", async () => {
    const warnings: string[] = [];
    const port = await start(files, (message) => warnings.push(message));
    const other = await authority.issue("other");
    const keys = secretScan({ first: readFileSync(files.keyFile, "utf8"), other: other.key });
    writeFileSync(files.keyFile, other.key);
    await eventually(
      async () => warnings.length,
      (count) => count > 0,
    );
    const socket = await handshake(port, {});
    expect(socket.getPeerCertificate().subject.CN).to.equal("first");
    socket.destroy();
    writeFileSync(files.certFile, other.cert);
    await eventually(
      async () => lines.length,
      () => lines.some(({ msg }) => msg === "TLS certificate renewed"),
    );
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.contain(files.keyFile).and.not.contain("PRIVATE");
    expect(
      keys(JSON.stringify([warnings, lines, await get(port, "/nowhere").then(({ headers }) => headers)])),
    ).to.deep.equal([]);
    expect(keys(readFileSync(files.keyFile, "utf8"))).to.deep.equal(["other"]);
  });

  it("lets only clients with a certificate of the authority in, where there is one", async () => {
    const clients = await testAuthority("authority of clients");
    const clientCaFile = join(folder, "clients.pem");
    writeFileSync(clientCaFile, clients.cert);
    const port = await start({ ...files, clientCaFile });
    expect((await get(port, "/health/live", await clients.issue("client"))).status).to.equal(200);
    for (const [what, options] of [
      ["none", {}],
      ["of another authority", await authority.issue("stranger")],
    ] as const) {
      const refused: unknown = await get(port, "/health/live", options).catch((error: unknown) => error);
      expect(refused, what).to.be.instanceOf(Error);
    }
    expect(lines.filter(({ msg }) => msg === "request answered")).to.have.length(1);
  });

  it("closes a connection that speaks plain HTTP, and serves on", async () => {
    const port = await start();
    const socket = connectPlainly(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write("GET /v1/upgrades HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n\r\n");
    socket.resume();
    await once(socket, "close");
    expect((await get(port, "/health/live")).status).to.equal(200);
    expect(JSON.stringify(lines)).not.to.contain("secret");
  });

  it("does not wait for handshakes when it closes", async () => {
    const port = await start();
    const socket = connectPlainly(port, "127.0.0.1");
    await once(socket, "connect");
    // A round trip: the server knows of the other connection by then.
    await get(port, "/health/live");
    await api?.close();
    socket.destroy();
  }).timeout(2000);

  it("names the file that cannot be used", async () => {
    const problem = (wanted: Partial<TlsFiles>) => {
      const tls = renewedTls({ ...files, ...wanted }, () => {});
      return E.isLeft(tls) ? tls.left : undefined;
    };
    const missing = join(folder, "missing.pem");
    expect(problem({ certFile: missing })).to.equal(`API_TLS_CERT_FILE=${missing}: cannot be read (ENOENT).`);
    expect(problem({ keyFile: missing })).to.equal(`API_TLS_KEY_FILE=${missing}: cannot be read (ENOENT).`);
    expect(problem({ clientCaFile: missing })).to.equal(`API_TLS_CLIENT_CA_FILE=${missing}: cannot be read (ENOENT).`);
    const nonsense = join(folder, "nonsense.pem");
    writeFileSync(nonsense, "secret nonsense");
    for (const wanted of [{ certFile: nonsense }, { keyFile: nonsense }])
      expect(problem(wanted)).to.match(/API_TLS_CERT_FILE=.*, API_TLS_KEY_FILE=.*: not a PEM/);
    expect(problem({ clientCaFile: nonsense })).to.equal(`API_TLS_CLIENT_CA_FILE=${nonsense}: not a PEM certificate.`);
  });
});

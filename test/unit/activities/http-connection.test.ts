import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { HttpConnection } from "../../../activities/drivers/http-connection";
import { type Lease, LeaseEndedError, NoLeaseError, withLease } from "../../../activities/drivers/lease";
import { AnswerTooLargeError } from "../../../src/bounded-body";
import { rejectionOf } from "../../support/rejection-of";

describe("the way out to the component managers", () => {
  let server: Server;
  let http: HttpConnection;
  let arrived: string[];

  beforeEach(async () => {
    arrived = [];
    server = createServer((request, response) => {
      arrived.push(`${request.method} ${request.url}`);
      if (request.url === "/endless") {
        const more = () => {
          while (response.write(Buffer.alloc(1024 * 1024)));
        };
        response.on("drain", more);
        more();
      } else if (request.url === "/cut") request.socket.destroy();
      else if (request.url === "/passed-on") response.writeHead(504).end();
      else if (request.url === "/front-503") response.writeHead(503).end("<!DOCTYPE html><p>no healthy upstream</p>");
      else if (request.url === "/own-503") response.writeHead(503).end('{"error_type":"SERVICE_UNAVAILABLE"}');
      else response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    http = new HttpConnection(`http://127.0.0.1:${port}`, {
      callTimeout: 2_000,
      quickRetries: { limit: 0, statuses: [] },
    });
  });
  afterEach(async () => {
    await http.close();
    server.close();
  });

  const request = (method: "GET" | "PUT", changes: boolean, path = "policy") =>
    http.request({ method, path, changes, what: "set the policy", headers: {} });

  /** A lease that is valid so often as it says, one answer after another, and again after each renewal. */
  function leaseThat(...valid: boolean[]) {
    let renewals = 0;
    const lost: number[] = [];
    const lease: Lease = {
      renew: () => Promise.resolve(void renewals++),
      isValid: () => valid.shift() ?? true,
      follow: () => undefined,
      lost: (milliseconds) => void lost.push(milliseconds),
    };
    return { lease, renewals: () => renewals, lost };
  }

  it("sends what changes nothing without a lease", async () => {
    await request("GET", false);
    await request("PUT", false);
    expect(arrived).to.deep.equal(["GET /policy", "PUT /policy"]);
  });

  it("reads no answer without an end, and does not ask for it again", async () => {
    const patient = new HttpConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
      callTimeout: 30_000,
      quickRetries: { limit: 3, statuses: [] },
    });
    const call = { method: "GET", path: "endless", changes: false, what: "list", headers: {} } as const;
    expect(await rejectionOf(patient.request(call))).to.be.instanceOf(AnswerTooLargeError);
    expect(arrived).to.deep.equal(["GET /endless"]);
    await patient.close();
  });

  it("sends no change without one", async () => {
    expect(await rejectionOf(request("PUT", true))).to.be.instanceOf(NoLeaseError);
    expect(arrived).to.deep.equal([]);
  });

  it("renews the lease before a change", async () => {
    const { lease, renewals } = leaseThat();
    await withLease(lease, () => request("PUT", true));
    expect([arrived, renewals()]).to.deep.equal([["PUT /policy"], 1]);
  });

  it("looks again when a connection is about to write, and sends it once after another renewal", async () => {
    const { lease, renewals } = leaseThat(false, false, true);
    const { status } = await withLease(lease, () => request("PUT", true));
    expect([status, arrived, renewals()]).to.deep.equal([200, ["PUT /policy"], 3]);
  });

  for (const path of ["cut", "passed-on", "front-503"])
    it(`tells the lease of a change without an answer of the manager, which may arrive yet: ${path}`, async () => {
      const { lease, lost } = leaseThat();
      await withLease(lease, () => request("PUT", true, path)).catch(() => undefined);
      expect([arrived, lost]).to.deep.equal([[`PUT /${path}`], [2_000]]);
    });

  it("tells the lease nothing of a change that was answered, was never sent, or changes nothing", async () => {
    const { lease, lost } = leaseThat();
    await withLease(lease, () => request("PUT", true));
    await withLease(lease, () => request("PUT", true, "own-503"));
    await withLease(lease, () => request("GET", false, "cut")).catch(() => undefined);
    server.close();
    server.closeAllConnections();
    expect(await rejectionOf(withLease(lease, () => request("PUT", true)))).to.include({ code: "ECONNREFUSED" });
    expect(lost).to.deep.equal([]);
  });

  it("sends nothing where the lease has ended while a connection was waited for", async () => {
    const ended = new LeaseEndedError("gone");
    let renewals = 0;
    const lease: Lease = {
      renew: () => (renewals++ === 0 ? Promise.resolve() : Promise.reject(ended)),
      isValid: () => false,
      follow: () => undefined,
      lost: () => undefined,
    };
    expect(await rejectionOf(withLease(lease, () => request("PUT", true)))).to.equal(ended);
    expect(arrived).to.deep.equal([]);
    await request("GET", false);
    expect(arrived).to.deep.equal(["GET /policy"]);
  });
});

import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import type { ErrorBody } from "../../../src/domain/errors";
import { serveHealth } from "../../../src/observability/metrics-server";
import { type ServiceError, temporalNotSetUp } from "../../../src/upgrades/service-error";
import { freePorts } from "../../support/service/deployment";

describe("serveHealth", () => {
  let ready: TE.TaskEither<ServiceError, readonly ErrorBody[]> = TE.right([]);
  let url: string;
  let address: string;
  let stop: () => void;
  before(async () => {
    const { health } = await freePorts("health");
    address = `127.0.0.1:${health}`;
    url = `http://${address}`;
    stop = await serveHealth(() => ready, { address, variable: "WORKER_HEALTH_ADDRESS" });
  });
  after(() => stop());

  it("says that the process lives, and whether it can do its work", async () => {
    for (const path of ["/health/live", "/health/ready"]) {
      const { status, body } = await request(url).get(path);
      expect([status, body], path).to.deep.equal([200, { status: "UP" }]);
    }
  });

  it("says what it cannot do for some upgrades, and can do its work all the same", async () => {
    const problem = { errorCode: "WORKFLOW_BLOCKED", message: "1 Workflow is blocked." };
    ready = TE.right([problem]);
    const { status, body } = await request(url).get("/health/ready");
    expect([status, body]).to.deep.equal([200, { status: "UP", problems: [problem] }]);
  });

  it("says why it cannot, and still lives", async () => {
    ready = TE.left(temporalNotSetUp("namespace upgrades is missing"));
    const answer = await request(url).get("/health/ready");
    expect(answer.status).to.equal(503);
    expect(answer.body).to.include({ errorCode: "TEMPORAL_NOT_SET_UP" });
    expect(answer.body).to.have.property("referenceToken");
    expect((await request(url).get("/health/live")).status).to.equal(200);
  });

  it("answers nothing else", async () => {
    expect((await request(url).get("/metrics")).status).to.equal(404);
    expect((await request(url).post("/health/live")).status).to.equal(404);
  });

  it("names its variable where it cannot listen, and is nowhere without an address", async () => {
    const problem = await serveHealth(() => ready, { address, variable: "API_HEALTH_ADDRESS" }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(problem).to.have.property("message").that.contains(`API_HEALTH_ADDRESS=${address}: `);
    (await serveHealth(() => ready, { address: undefined, variable: "API_HEALTH_ADDRESS" }))();
  });
});

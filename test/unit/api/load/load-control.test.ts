import { connect } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import type { GateCounts } from "../../../../src/api/load/gate";
import { LoadControl } from "../../../../src/api/load/load-control";
import type { LoadLimits } from "../../../../src/api/load/load-limits";
import type { LimitedLoad, ShedReason } from "../../../../src/api/load/request-load";
import type { TakenUp } from "../../../../src/api/load/take-up-backlog";
import { clientAddress } from "../../../../src/api/client-address";
import type { ErrorBody } from "../../../../src/domain/error-body";
import { pageExample, taskExample, upgradeExample, upgradeSpecExample } from "../../../../src/api/openapi/examples";
import { eventually } from "../../../support/eventually";
import { ManualTimers } from "../../../support/manual-timers";
import { startApiUnderTest, type ApiOptions, type ApiUnderTest } from "../api-under-test";

const isSubset = (part: Partial<GateCounts>, whole: Partial<GateCounts>) =>
  isDeepStrictEqual({ ...whole, ...part }, whole);

describe("an API with too many requests", () => {
  const limits: LoadLimits = {
    starts: 1,
    steering: 1,
    reads: 1,
    lists: 1,
    waitMilliseconds: 2000,
    changesPerMinute: 0,
    readsPerMinute: 0,
  };
  let api: ApiUnderTest;
  let timers: ManualTimers;
  let control: LoadControl;
  let now: number;
  let shed: [LimitedLoad, ShedReason][];
  let letAllGo: () => void;

  beforeEach(() => {
    timers = new ManualTimers();
    [now, shed] = [0, []];
  });

  afterEach(async () => {
    letAllGo();
    await api.close();
  });

  /** An API whose starts and reads of one upgrade are held up until a test lets them go. */
  async function start(own: Partial<LoadLimits> = {}, options: ApiOptions = {}, takenUp?: TakenUp): Promise<void> {
    const held = new Promise<void>((resolve) => (letAllGo = resolve));
    control = new LoadControl({
      limits: { ...limits, ...own },
      timers,
      now: () => now,
      ...(takenUp && { takenUp }),
      onShed: (load, reason) => shed.push([load, reason]),
    });
    api = await startApiUnderTest({
      service: {
        startUpgrade: () => TE.fromTask(() => held.then(() => taskExample)),
        getUpgrade: () => TE.fromTask(() => held.then(() => upgradeExample)),
        listUpgrades: () => TE.right(pageExample),
        updateUpgrade: () => TE.right(upgradeExample),
      },
      loadControl: control,
      ...options,
    });
  }

  const headers = { authorization: "Bearer test", "content-type": "application/json" };
  const ask = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    fetch(api.url + path, {
      method,
      headers: { ...headers, ...more },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const post = () => ask("POST", "/v1/upgrades", upgradeSpecExample);
  const upgrade = `/v1/upgrades/${upgradeExample.id}`;

  /** Waits until there are so many requests. */
  const counts = (load: LimitedLoad, wanted: Partial<GateCounts>) =>
    eventually(
      () => Promise.resolve({ ...new Map(control.counts()).get(load) }),
      (now) => isSubset(wanted, now),
    );

  async function refusal(answer: Response): Promise<ErrorBody> {
    expect(answer.status).to.equal(424);
    const body = (await answer.json()) as ErrorBody;
    expect(body.context?.["retryAfterSeconds"]).to.equal(answer.headers.get("retry-after"));
    expect(Number(answer.headers.get("retry-after"))).to.be.within(1, 60);
    return body;
  }

  /** One start is worked on, and four wait. */
  async function fillStarts(): Promise<Promise<Response>[]> {
    const answers = Array.from({ length: 5 }, post);
    await counts("START", { inside: 5, waiting: 4, working: 1 });
    return answers;
  }

  it("refuses a start that finds no room, does nothing for it, and says what to do", async () => {
    await start();
    const answers = await fillStarts();
    const body = await refusal(await post());
    expect(body).to.include({ errorCode: "OVERLOADED", errorType: "FAILED_DEPENDENCY" });
    expect(body.message).to.contain("new upgrades");
    expect(body.remediationMessage).to.match(/^Send it again after .*, with the same Idempotency-Key\.$/);
    expect(shed).to.deep.equal([["START", "full"]]);
    letAllGo();
    for (const answer of answers) expect((await answer).status).to.equal(202);
    await counts("START", { inside: 0, waiting: 0, working: 0 });
    expect((await post()).status, "by itself").to.equal(202);
  });

  it("lets as many starts pass as there are places, and each one more when a worker has come to those before it", async () => {
    const takenUp: { readonly of: string; readonly end: () => void }[] = [];
    await start({}, {}, (id) => new Promise((end) => takenUp.push({ of: id, end })));
    letAllGo();
    expect((await post()).status, "the burst").to.equal(202);
    await counts("START", { inside: 0, working: 0 });
    expect((await post()).status).to.equal(202);
    await counts("START", { inside: 0, working: 1 });
    const next = post();
    await counts("START", { inside: 1, waiting: 1, working: 1 });
    expect(takenUp.map(({ of }) => of)).to.deep.equal([taskExample.id, taskExample.id]);
    takenUp[1]?.end();
    expect((await next).status).to.equal(202);
    await counts("START", { inside: 0, working: 1 });
    takenUp[0]?.end();
    takenUp[2]?.end();
    await counts("START", { inside: 0, waiting: 0, working: 0 });
    expect((await post()).status, "another burst").to.equal(202);
    await counts("START", { inside: 0, working: 0 });
  });

  it("refuses a start whose turn has not come in time", async () => {
    await start();
    const answers = await fillStarts();
    await timers.pass(2000);
    for (const answer of answers.slice(1)) expect((await refusal(await answer)).errorCode).to.equal("OVERLOADED");
    expect(shed).to.deep.equal(Array.from({ length: 4 }, () => ["START", "waited"]));
  });

  it("lets operators steer, read and list while starts are full, and tells health and metrics", async () => {
    await start();
    void (await fillStarts());
    for (const [method, path] of [
      ["PATCH", upgrade],
      ["GET", "/v1/upgrades"],
      ["GET", "/v1/bundles"],
      ["GET", "/health/live"],
      ["GET", "/metrics"],
    ] as const)
      expect((await ask(method, path)).status, path).to.equal(200);
  });

  it("lets operators steer while reads are full, which are refused with 424 too", async () => {
    await start();
    for (let i = 0; i < 5; i++) void ask("GET", upgrade).catch(() => undefined);
    await counts("READ", { waiting: 4, working: 1 });
    const body = await refusal(await ask("GET", upgrade));
    expect(body.errorCode).to.equal("OVERLOADED");
    expect(body.remediationMessage).not.to.contain("Idempotency-Key");
    expect((await ask("PATCH", upgrade)).status).to.equal(200);
    expect((await ask("GET", "/v1/upgrades")).status).to.equal(200);
  });

  it("refuses before a body has arrived, and a body that arrives slowly holds no place", async () => {
    await start();
    letAllGo();
    const stop = new AbortController();
    const slow = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) });
    const slowPost = () =>
      fetch(`${api.url}/v1/upgrades`, { method: "POST", headers, body: slow, duplex: "half", signal: stop.signal });
    const pending = slowPost().catch(() => undefined);
    await counts("START", { inside: 1, waiting: 0, working: 0 });
    expect((await post()).status).to.equal(202);
    stop.abort();
    await pending;
    await counts("START", { inside: 0 });
  });

  it("forgets whoever is cut off while waiting", async () => {
    await start();
    const first = post();
    await counts("START", { working: 1 });
    const body = JSON.stringify(upgradeSpecExample);
    const socket = connect(api.port, "127.0.0.1").on("error", () => undefined);
    const head = Object.entries({ ...headers, host: "a", "content-length": String(Buffer.byteLength(body)) });
    const lines = ["POST /v1/upgrades HTTP/1.1", ...head.map(([name, value]) => `${name}: ${value}`), "", body];
    socket.write(lines.join("\r\n"));
    await counts("START", { waiting: 1 });
    socket.resetAndDestroy();
    await counts("START", { inside: 1, waiting: 0, working: 1 });
    letAllGo();
    expect((await first).status).to.equal(202);
  });

  it("limits what one caller sends, starts, steering and reads apart, and no other caller", async () => {
    await start(
      { changesPerMinute: 1, readsPerMinute: 2 },
      {
        authentication: {
          mode: "local",
          authenticate: (authorization) => TE.right({ caller: authorization ?? "", role: "ADMIN" }),
        },
      },
    );
    letAllGo();
    expect((await post()).status).to.equal(202);
    const body = await refusal(await post());
    expect(body.errorCode).to.equal("RATE_LIMITED");
    expect(body.context).to.include({ perMinute: "1", retryAfterSeconds: "60" });
    expect((await ask("PATCH", upgrade)).status, "steering").to.equal(200);
    expect((await ask("GET", upgrade)).status).to.equal(200);
    expect((await ask("GET", "/v1/upgrades")).status).to.equal(200);
    expect((await refusal(await ask("GET", upgrade))).errorCode).to.equal("RATE_LIMITED");
    const other = { authorization: "Bearer other" };
    expect((await ask("POST", "/v1/upgrades", upgradeSpecExample, other)).status).to.equal(202);
    for (let i = 0; i < 5; i++) expect((await ask("GET", "/health/live")).status).to.equal(200);
    now = 60_000;
    expect((await post()).status, "a minute later").to.equal(202);
  });

  it("knows callers by their addresses where nobody is named, by what trusted proxies say", async () => {
    await start({ changesPerMinute: 1 }, { addressOf: clientAddress(["127.0.0.1"]) });
    letAllGo();
    const from = async (address: string) =>
      (await ask("POST", "/v1/upgrades", upgradeSpecExample, { "x-forwarded-for": address })).status;
    expect(await from("10.0.0.1")).to.equal(202);
    expect(await from("10.0.0.1")).to.equal(424);
    expect(await from("10.0.0.2, 10.0.0.1"), "what stands before could be invented").to.equal(424);
    expect(await from("10.0.0.2")).to.equal(202);
    expect(await from("2001:db8::1")).to.equal(202);
    expect(await from("2001:db8::2"), "one network").to.equal(424);
  });
});

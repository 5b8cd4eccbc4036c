import { connect } from "node:net";
import { mock } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import {
  type Load,
  LoadControl,
  type LoadCounts,
  type LoadLimits,
  type Shed,
  type ShedReason,
} from "../../../src/api/load-control";
import { pageExample, taskExample, upgradeExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import { clientAddress } from "../../../src/authentication/client-address";
import type { ErrorBody } from "../../../src/domain/errors";
import { eventually } from "../../support/eventually";
import { ManualTimers, settled } from "../../support/manual-timers";
import { type ApiOptions, type ApiUnderTest, startApiUnderTest } from "./api-under-test";

const limits: LoadLimits = {
  starts: 1,
  commands: 1,
  reads: 1,
  lists: 1,
  waitMilliseconds: 2000,
  changesPerMinute: 0,
  readsPerMinute: 0,
};

const countsOf = (control: LoadControl, load: Load) => ({ ...new Map(control.counts()).get(load) });
const isSubset = (part: Partial<LoadCounts>, whole: Partial<LoadCounts>) =>
  isDeepStrictEqual({ ...whole, ...part }, whole);

describe("LoadControl", () => {
  let timers: ManualTimers;
  let control: LoadControl;
  /** What was begun and has not been let go. */
  let running: Map<string, (outcome?: Error) => void>;
  let gone: Set<string>;
  /** What became of the requests that have ended. */
  let ended: Map<string, string>;

  beforeEach(() => {
    timers = new ManualTimers();
    control = new LoadControl({ limits: { ...limits, starts: 2 }, timers });
    [running, gone, ended] = [new Map(), new Set(), new Map()];
  });

  const outcomeOf = (outcome: E.Either<Shed, string>) => (E.isLeft(outcome) ? outcome.left._tag : outcome.right);

  /** Requests of one kind that run until they are let go. */
  async function arrive(load: Load, ...names: string[]): Promise<void> {
    for (const name of names) {
      const work: TE.TaskEither<never, string> = () =>
        new Promise((resolve, reject) =>
          running.set(name, (error) => {
            running.delete(name);
            if (error) reject(error);
            else resolve(E.right("done"));
          }),
        );
      const arrival = { load, caller: "somebody", isGone: () => gone.has(name) };
      void control
        .admit(arrival, async (withPermit) => {
          ended.set(name, outcomeOf(await withPermit(work)()));
        })
        .then(
          (shed) => shed && ended.set(name, shed._tag),
          (error: unknown) => ended.set(name, String(error)),
        );
    }
    await settled();
  }

  async function letGo(name: string, outcome?: Error): Promise<void> {
    running.get(name)?.(outcome);
    await settled();
  }

  it("runs as many as there are permits, and the rest in the order in which they came", async () => {
    await arrive("START", "a", "b", "c", "d");
    expect([...running.keys()]).to.deep.equal(["a", "b"]);
    await letGo("b");
    expect([...running.keys()]).to.deep.equal(["a", "c"]);
    await letGo("a");
    expect([...running.keys()]).to.deep.equal(["c", "d"]);
    await letGo("c");
    await letGo("d");
    expect([...ended.values()]).to.deep.equal(["done", "done", "done", "done"]);
    expect(countsOf(control, "START")).to.deep.equal({ inside: 0, waiting: 0, working: 0, permits: 2 });
  });

  it("sheds what finds the queue full at once, and what has waited too long", async () => {
    const names = Array.from({ length: 8 }, (_, i) => `${i}`);
    await arrive("START", ...names, "too many");
    expect(ended).to.deep.equal(new Map([["too many", "Overloaded"]]));
    expect(countsOf(control, "START")).to.deep.equal({ inside: 8, waiting: 6, working: 2, permits: 2 });
    await timers.pass(1999);
    expect(ended.size).to.equal(1);
    await timers.pass(1);
    await settled();
    expect(ended.size).to.equal(7);
    expect(new Set(ended.values())).to.deep.equal(new Set(["Overloaded"]));
    expect(countsOf(control, "START")).to.deep.equal({ inside: 2, waiting: 0, working: 2, permits: 2 });
    expect(timers.waiting).to.equal(0);
  });

  it("gives the permit of a request that broke to the next", async () => {
    await arrive("START", "a", "b", "c");
    await letGo("a", new Error("broken"));
    expect(ended.get("a")).to.equal("Error: broken");
    expect([...running.keys()]).to.deep.equal(["b", "c"]);
  });

  it("begins nothing for a client that hung up while it waited", async () => {
    await arrive("START", "a", "b", "c", "d");
    gone.add("c");
    await letGo("a");
    expect([...running.keys()]).to.deep.equal(["b", "d"]);
    expect(ended.get("c")).to.equal("Overloaded");
  });

  it("keeps the permits of operators' commands from every other kind", async () => {
    const others = ["START", "READ", "LIST", "INVENTORY", "SIGN_IN"] as const;
    for (const load of others) await arrive(load, ...Array.from({ length: 200 }, (_, i) => `${load} ${i}`));
    for (const load of others) expect(countsOf(control, load).waiting, load).to.be.above(0);
    await arrive("COMMAND", "commit");
    expect([...running.keys()]).to.include("commit");
  });

  it("tells shed clients to come back at different times", async () => {
    const waits = new Set<number>();
    await arrive("READ", ...Array.from({ length: 4 }, (_, i) => `${i}`));
    for (let i = 0; i < 5; i++) {
      const shed = await control.admit({ load: "READ", caller: "a", isGone: () => false }, () => Promise.resolve());
      if (shed) waits.add(shed.retryAfterSeconds);
    }
    expect([...waits].sort()).to.deep.equal([1, 2, 3, 4, 5]);
  });
});

describe("an API with too many requests", () => {
  let api: ApiUnderTest;
  let timers: ManualTimers;
  let control: LoadControl;
  let shed: [Load, ShedReason][];
  let letAllGo: () => void;

  beforeEach(() => {
    timers = new ManualTimers();
    shed = [];
  });

  afterEach(async () => {
    mock.timers.reset();
    letAllGo();
    await api.close();
  });

  /** An API whose starts and reads of one upgrade are held up until a test lets them go. */
  async function start(own: Partial<LoadLimits> = {}, options: ApiOptions = {}): Promise<void> {
    const held = new Promise<void>((resolve) => (letAllGo = resolve));
    control = new LoadControl({
      limits: { ...limits, ...own },
      timers,
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
  const counts = (load: Load, wanted: Partial<LoadCounts>) =>
    eventually(
      () => Promise.resolve(countsOf(control, load)),
      (now) => isSubset(wanted, now),
    );

  async function refusal(answer: Response, status: 429 | 503): Promise<ErrorBody> {
    expect(answer.status).to.equal(status);
    const body = (await answer.json()) as ErrorBody;
    expect(body.errorType).to.equal("TOO_MANY_REQUESTS");
    expect(body.errorCode).to.equal({ 429: "RATE_LIMITED", 503: "OVERLOADED" }[status]);
    expect(body.context?.["retryAfterSeconds"]).to.equal(answer.headers.get("retry-after"));
    expect(Number(answer.headers.get("retry-after"))).to.be.within(1, 60);
    return body;
  }

  /** One start runs, and three wait. */
  async function fillStarts(): Promise<Promise<Response>[]> {
    const answers = Array.from({ length: 4 }, post);
    await counts("START", { inside: 4, waiting: 3, working: 1 });
    return answers;
  }

  it("sheds a start that finds the queue full with 503, does nothing for it, and says what to do", async () => {
    await start();
    const answers = await fillStarts();
    const answer = await post();
    expect(answer.headers.get("connection"), "for the next attempt").to.equal("keep-alive");
    const body = await refusal(answer, 503);
    expect(body.message).to.contain("new upgrades");
    expect(body.remediationMessage).to.match(/^Send it again after .*, with the same Idempotency-Key\.$/);
    expect(shed).to.deep.equal([["START", "full"]]);
    expect(api.auditLines).to.have.length(1);
    expect(api.auditLines[0]).to.include({ outcome: "REFUSED", status: 503, errorCode: "OVERLOADED" });
    expect(api.logLines.map(({ level, status }) => [level, status])).to.deep.equal([[30, 503]]);
    letAllGo();
    for (const answer of answers) expect((await answer).status).to.equal(202);
    await counts("START", { inside: 0, waiting: 0, working: 0 });
    expect((await post()).status, "by itself").to.equal(202);
  });

  it("sheds a start that has waited too long with 503", async () => {
    await start();
    const answers = await fillStarts();
    await timers.pass(2000);
    for (const answer of answers.slice(1)) await refusal(await answer, 503);
    expect(shed).to.deep.equal(Array.from({ length: 3 }, () => ["START", "waited"]));
  });

  it("serves commands, reads, lists, health and metrics while starts are full", async () => {
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

  it("sheds reads with 503 too, and serves commands and lists meanwhile", async () => {
    await start();
    for (let i = 0; i < 4; i++) void ask("GET", upgrade).catch(() => undefined);
    await counts("READ", { waiting: 3, working: 1 });
    const body = await refusal(await ask("GET", upgrade), 503);
    expect(body.remediationMessage).not.to.contain("Idempotency-Key");
    expect((await ask("PATCH", upgrade)).status).to.equal(200);
    expect((await ask("GET", "/v1/upgrades")).status).to.equal(200);
  });

  it("sheds before a body has arrived, and a body that arrives slowly holds no permit", async () => {
    await start();
    letAllGo();
    const stop = new AbortController();
    const slow = () => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) });
    const slowPost = () =>
      fetch(`${api.url}/v1/upgrades`, { method: "POST", headers, body: slow(), duplex: "half", signal: stop.signal });
    const pending = Array.from({ length: 3 }, () => slowPost().catch(() => undefined));
    await counts("START", { inside: 3, waiting: 0, working: 0 });
    expect((await post()).status).to.equal(202);
    pending.push(slowPost().catch(() => undefined));
    await counts("START", { inside: 4 });
    await refusal(await slowPost(), 503);
    stop.abort();
    await Promise.all(pending);
    await counts("START", { inside: 0 });
  });

  it("starts nothing for a client that is cut off while it waits", async () => {
    await start();
    const first = post();
    await counts("START", { working: 1 });
    const body = JSON.stringify(upgradeSpecExample);
    const socket = connect(api.port, "127.0.0.1").on("error", () => undefined);
    const head = Object.entries({ ...headers, host: "localhost", "content-length": String(Buffer.byteLength(body)) });
    const lines = ["POST /v1/upgrades HTTP/1.1", ...head.map(([name, value]) => `${name}: ${value}`), "", body];
    socket.write(lines.join("\r\n"));
    await counts("START", { waiting: 1 });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resetAndDestroy();
    await closed;
    // The API hears of it later than this process: an answer on another connection comes after it.
    expect((await ask("GET", "/health/live")).status).to.equal(200);
    letAllGo();
    expect((await first).status).to.equal(202);
    await counts("START", { inside: 0, waiting: 0, working: 0 });
    expect(shed).to.deep.equal([["START", "waited"]]);
  });

  it("limits the rate of one caller with 429, for starts, commands and reads separately, and no other caller", async () => {
    mock.timers.enable({ apis: ["Date"], now: Date.now() });
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
    const body = await refusal(await post(), 429);
    expect(body.context).to.include({ perMinute: "1", retryAfterSeconds: "60" });
    expect(shed).to.deep.equal([["START", "rate"]]);
    expect((await ask("PATCH", upgrade)).status, "a command").to.equal(200);
    expect((await ask("GET", upgrade)).status).to.equal(200);
    expect((await ask("GET", "/v1/upgrades")).status).to.equal(200);
    await refusal(await ask("GET", upgrade), 429);
    const other = { authorization: "Bearer other" };
    expect((await ask("POST", "/v1/upgrades", upgradeSpecExample, other)).status).to.equal(202);
    for (let i = 0; i < 5; i++) expect((await ask("GET", "/health/live")).status).to.equal(200);
    mock.timers.tick(60_000);
    expect((await post()).status, "a minute later").to.equal(202);
  });

  it("knows callers by their addresses where nobody is named, by what trusted proxies say", async () => {
    await start({ changesPerMinute: 1 }, { addressOf: clientAddress(["127.0.0.1"]) });
    letAllGo();
    const from = async (address: string) =>
      (await ask("POST", "/v1/upgrades", upgradeSpecExample, { "x-forwarded-for": address })).status;
    expect(await from("10.0.0.1")).to.equal(202);
    expect(await from("10.0.0.1")).to.equal(429);
    expect(await from("10.0.0.2, 10.0.0.1"), "what stands before could be invented").to.equal(429);
    expect(await from("10.0.0.2")).to.equal(202);
    expect(await from("2001:db8::1")).to.equal(202);
    expect(await from("2001:db8::2"), "one network").to.equal(429);
  });
});

import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import type * as t from "io-ts";
import pLimit from "p-limit";
import { allRoutes } from "../../../src/api/create-api";
import type { Route } from "../../../src/api/route";
import { codecRoutes } from "../../../src/api/routes/codec";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { withoutNulls } from "../../../src/domain/decode";
import type { ErrorBody } from "../../../src/domain/errors";
import { partThatCounts, UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { example } from "../../support/service/examples";
import { fakeService } from "../../unit/api/api-under-test";
import { runs, seed, tally } from "./tally";
import { useAttackedService } from "./use-attacked-service";
import { fullValue, pathOf, type Place, placesIn, textWith, valueWith } from "./value-places";
import { unreadable, wrongValues } from "./wrong-values";

type RouteWithBody = Route & { readonly request: { readonly body: t.Mixed } };

const none = () => TE.right([]);
const routesWithBody = [
  ...allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication),
  ...codecRoutes({ encode: none, decode: none }),
].filter((route): route is RouteWithBody => route.request.body !== undefined);

const unknownId = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";
const pathFor = ({ path }: Route) =>
  path.replace("{id}", unknownId).replace("{precheckId}", `${unknownId}-prechecks-1`);
const [start, preview] = ["/v1/upgrades", "/v1/upgrades/preview"];

/** Every product and every option that fits one cluster: what could be accepted, and would run nothing yet. */
const platformDraft = { ...example("platform"), draftMode: true };

/** A wrong value at a place of a body, and the text of the whole that is sent. */
interface Attempt {
  readonly what: string;
  readonly place: Place;
  readonly text: string;
}

function attempts(body: unknown): Attempt[] {
  return placesIn(body).flatMap((place) =>
    Object.entries(wrongValues).map(([what, rewrite]) => ({ what, place, text: textWith(body, place, rewrite) })),
  );
}

/** What the messages of an Error and of those in it say. */
function messagesOf({ message, nestedErrors = [] }: ErrorBody): string[] {
  return [message, ...nestedErrors.flatMap(messagesOf)];
}

/** The field that a refusal must name; undefined where only fields of the whole body can be. */
function pathAtFault({ what, place }: Attempt): string | undefined {
  if (place.length === 0) return undefined;
  // A list is too short without its only element.
  return pathOf(what === "missing" && typeof place.at(-1) === "number" ? place.slice(0, -1) : place);
}

describe("bodies with a wrong value at each of their places", function () {
  this.timeout(240_000);
  const service = useAttackedService("bodies");

  /** Sends a body; asserts that it is refused by the name of the field where it does not decode. */
  async function attack(kind: string, route: RouteWithBody, path: string, attempt: Attempt): Promise<number> {
    const { what, place, text } = attempt;
    const { status, text: answer } = await service().ask(kind, service().json(route.method, path, text));
    const told = `${route.operationId}, ${what} at ${pathOf(place)}: ${status} ${answer.slice(0, 400)}`;
    if (unreadable.has(what) || (text === "" && !route.request.bodyMayBeAbsent)) expect(status, told).to.equal(400);
    else if (text !== "" && !fits(route, text)) {
      expect(status, told).to.equal(400);
      const path = pathAtFault(attempt);
      if (path) expect(messagesOf(JSON.parse(answer) as ErrorBody).join("\n"), told).to.contain(path);
    } else expect(status, told).to.be.oneOf([...route.failures, route.success.status, 200]);
    return status;
  }

  for (const route of routesWithBody)
    it(`of ${route.method} ${route.path} are refused by the name of the field, or fit`, async () => {
      const path = route.path === start ? preview : pathFor(route);
      const kind = `${route.operationId}: wrong values`;
      await severalAtOnce(attempts(bodyFor(route)), (attempt) => attack(kind, route, path, attempt));
      expect(tally.of(kind, 400), "wrong values").to.be.greaterThan(10);
    });

  it("of an upgrade that would be accepted are refused, or accepted where they are right", async () => {
    const route = routesWithBody.find(({ path, method }) => path === start && method === "POST")!;
    const kind = "startUpgrade: wrong values in a right body";
    let right = 0;
    await severalAtOnce(attempts(platformDraft), async (attempt) => {
      const decoded = attempt.text === "" || unreadable.has(attempt.what) ? undefined : decode(attempt.text);
      // Some of those that are right are started, as drafts; the others are only looked at.
      const path = !decoded || (decoded.draftMode === true && right++ % 6 === 0) ? start : preview;
      await attack(kind, route, path, attempt);
    });
    expect(tally.of(kind, 202), "that were started").to.be.greaterThan(10);
  });

  it("of any shape, at several places at once, are refused or fit", () => {
    const bodies: Readonly<Record<string, { readonly route: RouteWithBody; readonly body: unknown }>> = {
      ...Object.fromEntries(routesWithBody.map((route) => [route.operationId, { route, body: bodyFor(route) }])),
      "a right start": { route: routesWithBody.find(({ path }) => path === start)!, body: platformDraft },
    };
    // Only names are drawn, so that a counterexample can be read.
    const attempt = fc.constantFrom(...Object.entries(bodies)).chain(([name, { body }]) => {
      const place = fc.constantFrom(...placesIn(body));
      return fc.record({
        name: fc.constant(name),
        replaced: fc.array(fc.tuple(place, fc.jsonValue({ maxDepth: 8 })), { maxLength: 3 }),
        rewritten: fc.tuple(place, fc.constantFrom(...Object.keys(wrongValues))),
      });
    });
    return fc.assert(
      fc.asyncProperty(attempt, async ({ name, replaced, rewritten: [place, what] }) => {
        const { route, body } = bodies[name]!;
        const value = replaced.reduce((all, [where, by]) => valueWith(all, where, by), body);
        const path = route.path === start ? preview : pathFor(route);
        await service().ask(
          "random bodies",
          service().json(route.method, path, textWith(value, place, wrongValues[what]!)),
        );
      }),
      { numRuns: runs, seed },
    );
  });

  it("that are wrong as a whole get an Error", async () => {
    for (const [what, body] of Object.entries(wholeBodies()))
      await severalAtOnce(routesWithBody, async (route) => {
        const sent = service().json(route.method, pathFor(route), body);
        const { status, text } = await service().ask("bodies that are wrong as a whole", sent);
        expect(status, `${route.operationId}: ${what}: ${text.slice(0, 400)}`).to.equal(400);
      });
  });

  it("of encrypted payloads that nobody has encrypted are refused", async () => {
    const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
    for (const key of ["fuzz", "another", "x".repeat(10_000), "__proto__", ""])
      for (const data of [undefined, "", "A", "x".repeat(12), "x".repeat(28), randomBytes(1000)]) {
        const metadata = { encoding: base64("binary/encrypted"), "encryption-key-id": base64(key) };
        const payload = { metadata, ...(data !== undefined && { data: base64(data) }) };
        const sent = service().json("POST", "/codec/decode", JSON.stringify({ payloads: [payload] }));
        const { status } = await service().ask("encrypted payloads", sent);
        expect(status).to.equal(key === "" ? 200 : 400);
      }
  });

  it("that are as large as payloads may be are taken, or refused by the name of the field", async () => {
    const long = "A".repeat(8_000_000);
    for (const [data, status] of [
      [long, 200],
      [`${long}?===`, 400],
    ] as const) {
      const sent = service().json("POST", "/codec/encode", JSON.stringify({ payloads: [{ data }] }));
      expect((await service().ask("payloads of 8 MB", sent)).status).to.equal(status);
    }
  });
});

/** Does something with each, a few at a time: most of a request is waiting for others than the service. */
async function severalAtOnce<A>(all: readonly A[], work: (one: A) => Promise<unknown>): Promise<void> {
  const limit = pLimit(4);
  try {
    await Promise.all(all.map((one) => limit(() => work(one))));
  } finally {
    // Nothing goes on after a failure.
    limit.clearQueue();
  }
}

/** A body with every field, each of which counts. */
function bodyFor({ request, operationId }: RouteWithBody): unknown {
  const body = fullValue(request.body);
  return operationId === "updateUpgrade" ? { ...(body as object), markForCancellation: false } : body;
}

/** Whether what counts of a body decodes; an optional field that is null counts as none. */
function fits({ request: { body }, operationId }: RouteWithBody, text: string): boolean {
  const value: unknown = JSON.parse(text);
  const counts = operationId === "updateUpgrade" ? partThatCounts(value) : value;
  return E.isRight(body.decode(withoutNulls(body, counts)));
}

function decode(text: string): UpgradeSpec | undefined {
  const decoded = UpgradeSpec.decode(withoutNulls(UpgradeSpec, JSON.parse(text)));
  return E.isRight(decoded) ? decoded.right : undefined;
}

/** Bodies that no route takes, whatever it asks for. */
function wholeBodies(): Record<string, string | Buffer> {
  const MiB = 2 ** 20;
  const many = (part: (i: number) => string, count: number) =>
    Array.from({ length: count }, (_, i) => part(i)).join(",");
  const draft = JSON.stringify(platformDraft);
  return {
    "not UTF-8": Buffer.from([...Buffer.from('{"bundleId":"'), 0xc3, 0x28, 0xff, ...Buffer.from('"}')]),
    "UTF-16": Buffer.from(`\ufeff${draft}`, "utf16le"),
    "a surrogate in UTF-8": Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    zeros: Buffer.alloc(1000),
    "cut off": draft.slice(0, -1),
    "two values": `${draft}${draft}`,
    "white space": " ".repeat(400_000),
    "nothing but open lists": "[".repeat(500_000),
    "objects in objects": `${'{"a":'.repeat(80_000)}1${"}".repeat(80_000)}`,
    "a text without end": `"${"x".repeat(500_000)}`,
    "escapes without end": `"${"\\n".repeat(250_000)}`,
    "a number without end": `[${"9".repeat(500_000)}`,
    "no JSON": "NaN",
    "40,000 fields": `{${many((i) => `"k${i}":0`, 40_000)},"payloads":0,"password":0,"upgradeNow":0}`,
    "10,001 resources": JSON.stringify({
      ...platformDraft,
      payloads: 1,
      password: 1,
      upgradeNow: 1,
      resourceUpgradeSpecs: Array.from({ length: 10_001 }, (_, i) => ({ resourceId: `c${i}` })),
    }),
    "the same resource twice": JSON.stringify({
      ...platformDraft,
      payloads: 1,
      password: 1,
      upgradeNow: 1,
      resourceUpgradeSpecs: [0, 0].map(() => platformDraft.resourceUpgradeSpecs[0]),
    }),
    "a text of 1 MiB": `["${"x".repeat(MiB)}"]`,
    "8 MiB of escapes without end": `"${"\\n".repeat(4 * MiB - 10)}`,
    "a list of 4 million": `[${"0,".repeat(4 * MiB - 10)}0]`,
    "a byte longer than the longest": Buffer.alloc(8 * MiB + 1, " "),
  };
}

import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import request from "supertest";
import { taskExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import { Task } from "../../../src/domain/spec/task";
import { failedDependency, notAllowed, type Problem, temporalUnreachable } from "../../../src/upgrades/service-error";
import { type ApiUnderTest, expectError, startApiUnderTest } from "./api-under-test";

const problem: Problem = { path: "bundleId", code: "X", message: "No.", remediation: "Do otherwise." };

describe("POST /v1/upgrades", () => {
  let api: ApiUnderTest;
  before(async () => (api = await startApiUnderTest()));
  beforeEach(() => (api.calls.started.length = 0));
  after(() => api.close());

  const post = () => request(api.url).post("/v1/upgrades").set("authorization", "Bearer x").type("application/json");

  it("answers 202 with the Task and where to find it", async () => {
    const answer = await post().send(upgradeSpecExample);
    expect(answer.status).to.equal(202);
    expect(answer.headers["content-type"]).to.equal("application/json");
    expect(answer.headers["location"]).to.equal(`/v1/tasks/${taskExample.id}`);
    expect(Task.is(answer.body)).to.equal(true);
    expect(answer.body).to.deep.equal(taskExample);
    expect(api.calls.started).to.deep.equal([{ spec: upgradeSpecExample, caller: "dev" }]);
  });

  it("ignores unknown fields with a warning, and never passes them on", async () => {
    const body = `{"__proto__":{"a":1},"constructor":1,"more":[],${JSON.stringify(upgradeSpecExample).slice(1)}`;
    expect((await post().send(body)).status).to.equal(202);
    expect(api.calls.started[0]?.warnings?.map(({ path }) => path)).to.deep.equal(["__proto__", "constructor", "more"]);
    expect(api.calls.started[0]?.spec).to.deep.equal(upgradeSpecExample);
    expect(Object.keys(api.calls.started[0]?.spec ?? {})).to.have.members(Object.keys(upgradeSpecExample));
  });

  describe("with a field that nobody knows", () => {
    const withField = (name: string, value: unknown = true, resource: object = {}) => ({
      ...upgradeSpecExample,
      resourceUpgradeSpecs: [{ ...upgradeSpecExample.resourceUpgradeSpecs[0], ...resource }],
      [name]: value,
    });

    it("tells each one with its path and the nearest known name", async () => {
      await post().send(
        withField("comment", "ours", { hostosUpgradeOptions: { disableHac: true }, enforceHclValidation: true }),
      );
      expect(api.calls.started[0]?.warnings).to.deep.equal([
        {
          code: "UNKNOWN_FIELD",
          path: "resourceUpgradeSpecs[0].hostosUpgradeOptions",
          nearestName: "hostosUpgradeOptionsSpec",
          message:
            'resourceUpgradeSpecs[0].hostosUpgradeOptions: there is no field "hostosUpgradeOptions" here; the nearest known name is hostosUpgradeOptionsSpec. It was ignored.',
        },
        {
          code: "UNKNOWN_FIELD",
          path: "resourceUpgradeSpecs[0].enforceHclValidation",
          nearestName: "resourceUpgradeSpecs[].hostosUpgradeOptionsSpec.enforceHclValidation",
          message:
            'resourceUpgradeSpecs[0].enforceHclValidation: there is no field "enforceHclValidation" here; the nearest known name is resourceUpgradeSpecs[].hostosUpgradeOptionsSpec.enforceHclValidation. It was ignored.',
        },
        {
          code: "UNKNOWN_FIELD",
          path: "comment",
          nearestName: "reason",
          message: 'comment: there is no field "comment" here; the nearest known name is reason. It was ignored.',
        },
      ]);
    });

    const slips = ["bundleID", "draftmode", "draft_mode", "draft-mode", "draftMod", "darftMode", "parallelUpgrades"];
    const restricting = [
      "hosts",
      "hostIds",
      "excludeHosts",
      "exclude",
      "include_hosts",
      "includedClusters",
      "only",
      "precheckOnly",
    ];
    const delaying = [
      "schedule",
      "scheduleTime",
      "upgradeWindow",
      "startAt",
      "start-time",
      "notBefore",
      "delaySeconds",
      "upgrade_now",
      "startImmediately",
      "autoStart",
      "enabled",
      "when",
    ];
    const dry = ["dryRun", "dry_run", "DRY-RUN", "dryrun", "isDraft", "draft", "simulate", "whatIf", "paused"];
    for (const name of [...slips, ...restricting, ...delaying, ...dry]) {
      it(`refuses ${name}, at the top and in a resource`, async () => {
        const error = expectError(await post().send(withField(name)), 400, "UNKNOWN_FIELD");
        expect(error.context).to.deep.equal({ path: name });
        // Of a cluster, `hosts` is known: test/e2e/upgrades/scope.test.ts.
        if (slips.includes(name) || name === "hosts") return;
        const inner = expectError(
          await post().send(withField("bundleId", "b", { [name]: ["x"] })),
          400,
          "UNKNOWN_FIELD",
        );
        expect(inner.context).to.deep.equal({ path: `resourceUpgradeSpecs[0].${name}` });
        expect(api.calls.started).to.deep.equal([]);
      });
    }

    for (const name of ["comment", "requestedBy", "tags", "ticket", "x-vendor", "metadata", "hostosThing"]) {
      it(`takes ${name}, which restricts nothing`, async () => {
        expect((await post().send(withField(name, { any: 1 }))).status).to.equal(202);
      });
    }

    it("takes a restricting one that is null, which says nothing", async () => {
      expect((await post().send(withField("dryRun", null))).status).to.equal(202);
    });

    it("keeps a bounded number of warnings, whatever is sent", async () => {
      const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`zz${"q".repeat(i % 7)}${i}`, i]));
      expect((await post().send({ ...upgradeSpecExample, ...many })).status).to.equal(202);
      const { warnings = [] } = api.calls.started[0] ?? {};
      expect(warnings).to.have.length(20);
      expect(warnings[19]).to.deep.equal({ code: "MORE_WARNINGS", message: "There are 19981 more warnings." });
    });

    it("has a header for each warning of the answer", async () => {
      const warnings = [
        { code: "UNKNOWN_FIELD", message: 'f\u00fcr: "x".' },
        { code: "UNKNOWN_FIELD", message: "b\\c" },
      ];
      const warned = await startApiUnderTest({
        service: { startUpgrade: () => TE.right({ ...taskExample, warnings }) },
      });
      try {
        const answer = await request(warned.url)
          .post("/v1/upgrades")
          .set("authorization", "x")
          .send(upgradeSpecExample);
        expect(answer.headers["warning"]).to.equal('299 - "f?r: \\"x\\".", 299 - "b\\\\c"');
        expect((answer.body as Task).warnings).to.deep.equal(warnings);
        const preview = await request(api.url)
          .post("/v1/upgrades/preview")
          .set("authorization", "x")
          .send(upgradeSpecExample);
        expect(preview.headers).to.not.have.property("warning");
      } finally {
        await warned.close();
      }
    });
  });

  it("takes the last of two fields of one name, as JSON.parse does", async () => {
    const body = `{"bundleId":"first",${JSON.stringify({ ...upgradeSpecExample, bundleId: "last" }).slice(1)}`;
    await post().send(body);
    expect(api.calls.started[0]?.spec.bundleId).to.equal("last");
  });

  it("takes null for an absent field, wherever a field is optional, and for no other", async () => {
    const nulls = {
      ...upgradeSpecExample,
      draftMode: null,
      mgmtUpgradeUserInputSpecs: null,
      netvirtUpgradeUserInputSpecs: [{ netvirtId: null, netvirtUpgradeOptions: { isEdgeOnlyUpgrade: null } }],
      resourceUpgradeSpecs: [
        {
          resourceId: "c",
          upgradeNow: null,
          hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: { action: null } },
        },
      ],
    };
    const answer = await post().send(nulls);
    expect(answer.status, answer.text).to.equal(202);
    const { draftMode: _, ...rest } = upgradeSpecExample;
    expect(api.calls.started[0]).to.deep.equal({
      caller: "dev",
      spec: {
        ...rest,
        netvirtUpgradeUserInputSpecs: [{ netvirtUpgradeOptions: {} }],
        resourceUpgradeSpecs: [{ resourceId: "c", hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: {} } }],
      },
    });
    for (const wrong of [
      { bundleId: null },
      { resourceUpgradeSpecs: [null] },
      { resourceUpgradeSpecs: [{ resourceId: null }] },
    ])
      expectError(await post().send({ ...upgradeSpecExample, ...wrong }), 400, "INVALID_FIELD");
  });

  it("compares UUIDs without regard to case", async () => {
    const id = "6F1F2A58-7F0A-4B7E-9D53-2C1F6A0C8E11";
    await post().send({
      ...upgradeSpecExample,
      bundleId: id,
      resourceUpgradeSpecs: [{ resourceId: id }, { resourceId: "C-1" }],
    });
    const { spec } = api.calls.started[0]!;
    expect([spec.bundleId, ...spec.resourceUpgradeSpecs.map(({ resourceId }) => resourceId)]).to.deep.equal([
      id.toLowerCase(),
      id.toLowerCase(),
      "C-1",
    ]);
  });

  it("gives the use case times in UTC with milliseconds", async () => {
    const spec = {
      ...upgradeSpecExample,
      resourceUpgradeSpecs: [{ resourceId: "c", scheduledTimestamp: "2036-12-01T11:30:00+02:00" }],
    };
    await post().send(spec);
    expect(api.calls.started[0]?.spec.resourceUpgradeSpecs[0]?.scheduledTimestamp).to.equal("2036-12-01T09:30:00.000Z");
  });

  describe("authorization", () => {
    for (const [what, value] of [
      ["missing", undefined],
      ["empty", ""],
      ["blank", "   "],
    ] as const) {
      it(`is refused with 403 Unauthorized when ${what}`, async () => {
        const unauthorized = request(api.url).post("/v1/upgrades");
        if (value !== undefined) unauthorized.set("authorization", value);
        expectError(await unauthorized.send(upgradeSpecExample), 403, "Unauthorized");
        expect(api.calls.started).to.deep.equal([]);
      });
    }

    it("comes before the content type and the body", async () => {
      expectError(await request(api.url).post("/v1/upgrades").type("text/plain").send("{"), 403, "Unauthorized");
    });
  });

  describe("content type", () => {
    const accepted = [
      "application/json",
      "application/json; charset=utf-8",
      "Application/JSON;charset=UTF-8",
      'application/json; charset="utf-8"',
      "application/json; charset=utf-16",
      "application/json;odata=verbose;IEEE754Compatible=true",
      "application/json; charset=ISO-8859-1; boundary=x",
      "application/json;",
    ];
    for (const type of accepted) {
      it(`may be ${type}`, async () => {
        expect((await post().type(type).send(JSON.stringify(upgradeSpecExample))).status).to.equal(202);
      });
    }

    const refused = ["text/plain", "application/jsonp", "multipart/form-data", "json/"];
    for (const type of refused) {
      it(`must not be ${type}`, async () => {
        const answer = await post().set("content-type", type).send(JSON.stringify(upgradeSpecExample));
        expectError(answer, 400, "UNSUPPORTED_CONTENT_TYPE");
      });
    }

    it("says nothing of the bytes, which are UTF-8, with a byte order mark or without", async () => {
      const send = (bytes: Buffer) =>
        fetch(`${api.url}/v1/upgrades`, {
          method: "POST",
          headers: { authorization: "x", "content-type": "application/json; charset=latin1" },
          body: bytes,
        });
      const spec = { ...upgradeSpecExample, bundleId: "b\u00fcndel" };
      expect((await send(Buffer.from(`\ufeff${JSON.stringify(spec)}`))).status).to.equal(202);
      expect(api.calls.started[0]?.spec.bundleId).to.equal("b\u00fcndel");
      expect((await send(Buffer.from(JSON.stringify(spec), "latin1"))).status).to.equal(400);
      expect((await send(Buffer.from(JSON.stringify(spec), "utf16le"))).status).to.equal(400);
    });

    it("must be there", async () => {
      const answer = await fetch(`${api.url}/v1/upgrades`, {
        method: "POST",
        headers: { authorization: "x" },
        body: Buffer.from("{}"),
      });
      const headers = Object.fromEntries(answer.headers);
      expectError({ status: answer.status, headers, text: await answer.text() }, 400, "UNSUPPORTED_CONTENT_TYPE");
    });
  });

  it("counts more problems than a function takes arguments, and lists the first", async () => {
    const specs = Array.from({ length: 240 }, () => ({
      netvirtHostClusterUpgradeSpecs: Array.from({ length: 1000 }, () => 1),
    }));
    const answer = await post().send({ ...upgradeSpecExample, netvirtUpgradeUserInputSpecs: specs });
    const { context, nestedErrors } = expectError(answer, 400, "INVALID_REQUEST");
    expect(context).to.deep.equal({ problems: "240000", listed: "100" });
    expect(nestedErrors).to.have.length(100);
  });

  it("refuses compressed bodies, so that none can unfold", async () => {
    for (const encoding of ["gzip", "br", "deflate", "identity, gzip"]) {
      const answer = await post().set("content-encoding", encoding).send("{}");
      expectError(answer, 400, "UNSUPPORTED_CONTENT_ENCODING");
    }
    expect((await post().set("content-encoding", "Identity").send(upgradeSpecExample)).status).to.equal(202);
  });

  describe("body", () => {
    const raw = (bytes: Buffer | string) =>
      post()
        .serialize((body) => body as string)
        .send(bytes as string);

    it("is required", async () => {
      expectError(await post(), 400, "MISSING_BODY");
    });

    it("must be UTF-8; a byte order mark is skipped", async () => {
      expectError(await raw(Buffer.from([0x22, 0xff, 0x22])), 400, "BODY_NOT_UTF8");
      expectError(await raw(Buffer.from('{"a":1}', "utf16le")), 400, "MALFORMED_JSON");
      const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(upgradeSpecExample))]);
      expect((await raw(marked)).status).to.equal(202);
    });

    it("must be JSON; the message tells where it is not, and repeats little of it", async () => {
      const body = expectError(await post().send('{\n "a": 1,\n}'), 400, "MALFORMED_JSON");
      expect(body.message).to.contain("line 3, column 1").and.contain("field name");
      const long = expectError(await post().send("x".repeat(500_000)), 400, "MALFORMED_JSON");
      expect(long.message.length).to.be.below(200);
    });

    it("may nest 64 levels", async () => {
      const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
      expectError(await post().send(nested(64)), 400, "INVALID_FIELD");
      expectError(await post().send(nested(65)), 400, "BODY_TOO_DEEP");
      expectError(await post().send(nested(100_000)), 400, "BODY_TOO_DEEP");
    });

    it("may be 512 KiB long and no byte longer", async () => {
      const text = JSON.stringify(upgradeSpecExample);
      expect((await post().send(text.padEnd(512 * 1024))).status).to.equal(202);
      expectError(await post().send(text.padEnd(512 * 1024 + 1)), 400, "BODY_TOO_LARGE");
    });

    it("reports all its wrong fields, bounded", async () => {
      const one = expectError(await post().send({ ...upgradeSpecExample, resourceType: "X" }), 400, "INVALID_FIELD");
      expect(one).to.deep.include({ context: { path: "resourceType" }, arguments: ["resourceType"] });
      const two = { ...upgradeSpecExample, resourceType: "X", draftMode: "yes" };
      const { nestedErrors } = expectError(await post().send(two), 400, "INVALID_REQUEST");
      expect(nestedErrors?.map(({ context }) => context?.["path"])).to.have.members(["resourceType", "draftMode"]);
      const many = { ...upgradeSpecExample, resourceUpgradeSpecs: Array.from({ length: 256 }, () => ({})) };
      const bounded = expectError(await post().send(many), 400, "INVALID_REQUEST");
      expect(bounded.nestedErrors).to.have.length(100);
      expect(bounded.context).to.deep.equal({ problems: "256", listed: "100" });
    });

    it("keeps numbers in their bounds, also those that JSON cannot hold exactly", async () => {
      for (const retryCount of ["1e400", "-1", "1.5", "101", "9007199254740993", '"3"']) {
        const text = `{"bundleId":"b","resourceType":"CLUSTER","resourceUpgradeSpecs":[{"resourceId":"c","hostosUpgradeOptionsSpec":{"hostosUpgradeFailureAction":{"retryCount":${retryCount}}}}]}`;
        expectError(await post().send(text), 400, "INVALID_FIELD");
      }
    });
  });

  describe("Idempotency-Key", () => {
    it("goes to the use case", async () => {
      const key = "!".padEnd(255, "~");
      await post().set("idempotency-key", key).send(upgradeSpecExample);
      expect(api.calls.started[0]?.idempotencyKey).to.equal(key);
    });

    for (const key of ["", "two words", "é", "x".repeat(256)]) {
      it(`must be 1 to 255 visible ASCII characters, not ${JSON.stringify(key.slice(0, 12))} (${key.length})`, async () => {
        const body = expectError(
          await post().set("idempotency-key", Buffer.from(key).toString("latin1")).send(upgradeSpecExample),
          400,
          "INVALID_PARAMETER",
        );
        expect(body.context).to.deep.equal({ path: "Idempotency-Key" });
        expect(body.message).to.contain("Idempotency-Key");
        expect(api.calls.started).to.deep.equal([]);
      });
    }
  });
});

describe("POST /v1/upgrades where the use case refuses", () => {
  for (const [status, code, error] of [
    [403, "X", notAllowed(problem)],
    [424, "X", failedDependency(problem)],
    [424, "TEMPORAL_UNREACHABLE", temporalUnreachable(new Error("down"))],
  ] as const) {
    it(`answers ${status} ${code}`, async () => {
      const api = await startApiUnderTest({ service: { startUpgrade: () => TE.left(error) } });
      const answer = await request(api.url).post("/v1/upgrades").set("authorization", "x").send(upgradeSpecExample);
      expectError(answer, status, code);
      await api.close();
    });
  }
});

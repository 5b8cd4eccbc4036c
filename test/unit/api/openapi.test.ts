import { Validator } from "@seriousme/openapi-schema-validator";
import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020";
import type { ValidateFunction } from "ajv/dist/2020";
import { expect } from "chai";
import * as t from "io-ts";
import request from "supertest";
import { allRoutes } from "../../../src/api/create-api";
import { errorExample, taskExample, upgradeSpecExample } from "../../../src/api/openapi/examples";
import { jsonSchemaInFull } from "../../../src/api/openapi/json-schema";
import type { AuthenticationMode } from "../../../src/authentication/authentication";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { shapeOf } from "../../../src/domain/codec";
import { fakeService, startApiUnderTest } from "./api-under-test";

type Schema = Readonly<Record<string, unknown>>;

interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Content>>; readonly links?: Record<string, Link> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

describe("openapi.json by mode of authentication", () => {
  type Secured = Operation & { readonly security: readonly Readonly<Record<string, readonly string[]>>[] };

  async function documentOf(mode: AuthenticationMode) {
    const api = await startApiUnderTest({ authentication: { mode } });
    const answer = await request(api.url).get("/openapi.json");
    await api.close();
    const { paths, components } = answer.body as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Secured>>>>;
      readonly components: { readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>> };
    };
    const operation = (path: string, method: string) => {
      const { security, responses } = paths[path]![method]!;
      return { security, statuses: Object.keys(responses) };
    };
    return { operation, scheme: components.securitySchemes["authorization"] };
  }

  it("requires no credentials in dev, where none are checked, and tells of the header that writes need", async () => {
    const { operation, scheme } = await documentOf("dev");
    expect(scheme).to.include({ type: "http", scheme: "bearer" });
    expect(scheme?.["description"]).to.contain("any Authorization header that is not blank");
    expect(operation("/v1/upgrades", "post").security).to.deep.equal([{}, { authorization: [] }]);
    expect(operation("/v1/upgrades", "get").security).to.deep.equal([]);
  });

  it("asks for a token with the role on everything that is not open in local and oidc", async () => {
    for (const [mode, write, read] of [
      [
        "local",
        ["202", "400", "403", "424", "429", "500", "503"],
        ["200", "304", "400", "403", "404", "429", "500", "503"],
      ],
      [
        "oidc",
        ["202", "400", "403", "424", "429", "500", "503"],
        ["200", "304", "400", "403", "404", "429", "500", "503"],
      ],
    ] as const) {
      const { operation, scheme } = await documentOf(mode);
      expect(scheme).to.include({ type: "http", scheme: "bearer" });
      expect(operation("/v1/upgrades", "post")).to.deep.equal({
        security: [{ authorization: ["OPERATOR"] }],
        statuses: write,
      });
      expect(operation("/v1/upgrades", "get")).to.deep.equal({
        security: [{ authorization: ["VIEWER"] }],
        statuses: read,
      });
      for (const [path, method] of [
        ["/health/live", "get"],
        ["/openapi.json", "get"],
        ["/v1/tokens", "post"],
      ] as const)
        expect(operation(path, method).security, path).to.deep.equal([]);
    }
  });
});

describe("openapi.json", function () {
  // Compiling all of its schemas takes seconds of processor.
  this.timeout(60_000);
  let document: Document;
  let validatorOf: (schema: object) => ValidateFunction;

  before(async () => {
    const api = await startApiUnderTest();
    const answer = await request(api.url).get("/openapi.json");
    await api.close();
    expect(answer.headers["content-type"]).to.equal("application/json");
    document = answer.body as Document;
    const ajv = new Ajv2020({ allErrors: true });
    addFormats(ajv);
    ajv.addVocabulary(["components"]);
    ajv.addSchema({ $id: "document", components: { schemas: document.components.schemas } });
    validatorOf = (schema) =>
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')) as object);
  });

  const operations = () => Object.values(document.paths).flatMap((path) => Object.values(path));
  const contents = (): [string, Content][] =>
    operations().flatMap(({ operationId, requestBody, responses }) =>
      [requestBody?.content ?? {}, ...Object.values(responses).map(({ content }) => content)]
        .flatMap((content) => Object.values(content ?? {}))
        .map((content): [string, Content] => [operationId, content]),
    );

  it("is a valid OpenAPI 3.1 document", async () => {
    expect(document).to.include({ openapi: "3.1.0" });
    expect(document.info.version).to.equal("1.2.3");
    const problemsOf = async (text: Record<string, unknown>) => {
      const validator = new Validator();
      const { errors = [] } = await validator.validate(structuredClone(text));
      expect(validator.version).to.equal("3.1");
      return errors;
    };
    expect(await problemsOf({ ...document })).to.deep.equal([]);
    expect(await problemsOf({ ...document, info: {} }), "the check itself can fail").to.not.be.empty;
  });

  it("has every documented route and no other", () => {
    const routes = allRoutes(fakeService({ started: [], listed: [], read: [], asked: [] }), "1", devAuthentication);
    const inTable = routes
      .filter(({ documented }) => documented !== false)
      .map(({ method, path }) => `${method} ${path}`);
    const inDocument = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(inDocument).to.have.members(inTable);
    expect(inDocument).to.include.members([
      "POST /v1/upgrades",
      "GET /v1/upgrades",
      "GET /v1/upgrades/{id}",
      "GET /v1/tasks/{id}",
      "PATCH /v1/upgrades/{id}",
      "POST /v1/upgrades/{id}/pause",
      "POST /v1/upgrades/{id}/resume",
      "POST /v1/upgrades/{id}/resolve",
      "POST /v1/upgrades/{id}/prechecks",
      "GET /v1/upgrades/{id}/prechecks/{precheckId}",
      "POST /v1/upgrades/preview",
      "GET /v1/tasks",
      "PATCH /v1/tasks/{id}",
      "DELETE /v1/tasks/{id}",
      "GET /v1/bundles",
      "GET /v1/bundles/{id}",
      "GET /v1/clusters",
      "GET /v1/clusters/{id}",
    ]);
  });

  it("declares the statuses of the specification and 304 of a list, each failure with an Error", () => {
    const statuses = (path: string, method: string) => Object.keys(document.paths[path]?.[method]?.responses ?? {});
    expect(statuses("/v1/upgrades", "post")).to.deep.equal(["202", "400", "403", "424", "429", "500", "503"]);
    expect(statuses("/v1/upgrades", "get")).to.deep.equal(["200", "304", "400", "403", "404", "429", "500", "503"]);
    for (const [path, method, success] of [
      ["/v1/upgrades/{id}", "patch", "200"],
      ["/v1/upgrades/{id}/pause", "post", "200"],
      ["/v1/upgrades/{id}/prechecks", "post", "202"],
      ["/v1/tasks/{id}", "patch", "200"],
      ["/v1/tasks/{id}", "delete", "200"],
    ] as const) {
      expect(statuses(path, method), `${method} ${path}`).to.deep.equal([
        success,
        "400",
        "403",
        "404",
        "409",
        "424",
        "429",
        "500",
        "503",
      ]);
    }
    expect(document.paths["/v1/upgrades/{id}"]?.["patch"]?.requestBody?.required).to.equal(false);
    expect(document.paths["/v1/upgrades"]?.["post"]?.requestBody?.required).to.equal(true);
    for (const { operationId, responses } of operations()) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        expect(content, `${operationId} ${status}`).to.have.all.keys("application/json");
        expect(content?.["application/json"]?.schema).to.deep.equal({ $ref: "#/components/schemas/Error" });
      }
    }
  });

  it("declares what every request can be refused with: a malformed URL, and a header of another machine", async () => {
    const api = await startApiUnderTest();
    const undeclared: string[] = [];
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, { responses }] of Object.entries(item)) {
        const url = path.replaceAll(/\{\w+\}/g, taskExample.id);
        const send = (target: string) => request(api.url)[method as "get" | "post" | "patch" | "delete"](target);
        const malformed = await send(`${url}?x=%ff`);
        const foreign = await send(url).set("host", "ums.example.com");
        expect([malformed.status, foreign.status], `${method} ${path}`).to.deep.equal([400, 403]);
        for (const { status } of [malformed, foreign])
          if (!(String(status) in responses)) undeclared.push(`${method} ${path}: ${status}`);
      }
    await api.close();
    expect(undeclared).to.deep.equal([]);
  });

  it("declares every parameter of a path, the filters, the paging and the Idempotency-Key", () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters } of Object.values(item)) {
        const declared = parameters.filter((parameter) => parameter.in === "path");
        expect(declared.map(({ name }) => name)).to.have.members(inPath);
        expect(declared.every(({ required }) => required)).to.equal(true);
      }
    }
    const names = (method: string) => document.paths["/v1/upgrades"]?.[method]?.parameters.map(({ name }) => name);
    expect(names("get")).to.deep.equal([
      "status",
      "phase",
      "sort",
      "search",
      "bundleId",
      "bundleType",
      "changeId",
      "label",
      "resourceId",
      "createdBy",
      "createdSince",
      "pageNumber",
      "pageSize",
      "If-None-Match",
    ]);
    expect(names("post")).to.deep.equal(["Idempotency-Key"]);
  });

  it("has unique operations, and links only to them, by parameters that they have", () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    const targets = operations().flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ links }) => Object.values(links ?? {}).map(({ operationId }) => operationId)),
    );
    const parametersOf = new Map(operations().map(({ operationId, parameters }) => [operationId, parameters]));
    for (const { responses } of operations()) {
      for (const { operationId, parameters } of Object.values(responses).flatMap(({ links }) =>
        Object.values(links ?? {}),
      )) {
        const needed = parametersOf.get(operationId)?.filter(({ required }) => required) ?? [];
        expect(Object.keys(parameters), operationId).to.have.members(needed.map(({ name }) => name));
      }
    }
    expect(ids).to.include.members(targets);
    const ofStart = Object.keys(document.paths["/v1/upgrades"]!["post"]!.responses["202"]!.links ?? {});
    expect(ofStart).to.include.members(["getTask", "getUpgrade", "updateUpgrade", "pauseUpgrade", "cancelTask"]);
  });

  it("has only schemas that are valid, strict JSON Schema 2020-12 and resolve", () => {
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => validatorOf({ $ref: `#/components/schemas/${name}` }), name).to.not.throw();
    }
    for (const [operationId, { schema }] of contents()) expect(() => validatorOf(schema), operationId).to.not.throw();
  });

  it("has an example of every body but its own", () => {
    const without = operations().flatMap(({ operationId, responses, requestBody }) =>
      Object.entries({ body: requestBody, ...responses }).flatMap(([place, answer]) =>
        Object.values(answer?.content ?? {}).some(({ examples }) => examples === undefined)
          ? [`${operationId} ${place}`]
          : [],
      ),
    );
    expect(without).to.deep.equal(["getOpenapi 200"]);
  });

  it("has examples that its schemas accept", () => {
    const examples = contents().flatMap(([operationId, { schema, examples = {} }]) =>
      Object.values(examples).map(({ value }) => ({ operationId, schema, value })),
    );
    expect(examples.map(({ value }) => value)).to.deep.include.members([upgradeSpecExample, taskExample, errorExample]);
    for (const { operationId, schema, value } of examples) {
      const validate = validatorOf(schema);
      expect(validate(value), `${operationId}: ${JSON.stringify(validate.errors)}`).to.equal(true);
    }
  });
});

describe("jsonSchemaOf", () => {
  it("refuses a codec whose shape it does not know rather than guess", () => {
    expect(() => jsonSchemaInFull(t.union([t.string, t.number]), () => undefined)).to.throw("No shape is known");
    expect(() => shapeOf(t.intersection([t.UnknownRecord, t.string]))).to.throw(
      "An intersection of anything but objects",
    );
  });

  it("describes records and values of any kind", () => {
    expect(jsonSchemaInFull(t.record(t.string, t.string), () => undefined)).to.deep.equal({
      type: "object",
      additionalProperties: { type: "string" },
    });
    expect(jsonSchemaInFull(t.unknown, () => undefined)).to.deep.equal({});
  });
});

import { expect } from "chai";
import request from "supertest";
import { startApiUnderTest } from "./api-under-test";

type Json = Readonly<Record<string, unknown>>;

/** Where the texts of the document are, for whoever has to add one. */
const models = "src/api/openapi/models";

/** A text for people: a sentence, or several. */
const isSentence = (text: unknown) => typeof text === "string" && /^[A-Z0-9`][^]*[.`]$/.test(text);

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const entriesOf = (value: unknown): [string, unknown][] => Object.entries(isObject(value) ? value : {});

/** What a schema lacks at a place of the document. `name` is that of the component that it is. */
function lackingOf(schema: unknown, place: string, name?: string): string[] {
  if (!isObject(schema)) return [];
  const lacking: string[] = [];
  if (name === undefined && schema["properties"] !== undefined)
    lacking.push(`${place}: an object without a name; add its codec to ${models} by \`object(codec, …)\``);
  if (name === undefined && schema["enum"] !== undefined)
    lacking.push(`${place}: an enumeration without a name; add its codec to ${models} by \`enumeration(codec, …)\``);
  if (name !== undefined && !isSentence(schema["description"]))
    lacking.push(`${place}: no description, or no sentence; ${models} has it`);
  for (const [field, property] of entriesOf(schema["properties"])) {
    const at = `${place}.${field}`;
    if (!isObject(property) || !isSentence(property["description"]))
      lacking.push(
        `${at}: no description, or no sentence; add it to the fields of ${name ?? "the object"} in ${models}`,
      );
    lacking.push(...lackingOf(property, at));
  }
  const inner = ["anyOf", "oneOf", "allOf"].flatMap((union) => {
    const branches = schema[union];
    return Array.isArray(branches) ? (branches as unknown[]) : [];
  });
  for (const part of [schema["items"], schema["additionalProperties"], ...inner])
    lacking.push(...lackingOf(part, place));
  return lacking;
}

/** What an operation lacks: descriptions of its parameters, answers and headers, and names of what its bodies hold. */
function lackingOfOperation(operation: Json, place: string): string[] {
  const lacking: string[] = [];
  const parameters = operation["parameters"] as readonly Json[];
  for (const { name, description, schema } of parameters) {
    const at = `${place}, parameter ${String(name)}`;
    if (!isSentence(description)) lacking.push(`${at}: no description, or no sentence; write parameter(codec, "…")`);
    lacking.push(...lackingOf(schema, at));
  }
  const bodies = [["request", operation["requestBody"]] as const, ...entriesOf(operation["responses"])];
  for (const [name, body] of bodies) {
    if (!isObject(body)) continue;
    const at = `${place}, ${name}`;
    if (name !== "request" && typeof body["description"] !== "string") lacking.push(`${at}: no description`);
    for (const [header, described] of entriesOf(body["headers"]))
      if (!isObject(described) || typeof described["description"] !== "string")
        lacking.push(`${at}, header ${header}: no description`);
    for (const [, content] of entriesOf(body["content"]))
      lacking.push(...lackingOf(isObject(content) ? content["schema"] : undefined, at));
  }
  return lacking;
}

function lackingOfDocument(document: Json): string[] {
  const { schemas } = document["components"] as { readonly schemas: Json };
  return [
    ...entriesOf(schemas).flatMap(([name, schema]) => lackingOf(schema, name, name)),
    ...entriesOf(document["paths"]).flatMap(([path, item]) =>
      entriesOf(item).flatMap(([method, operation]) =>
        lackingOfOperation(operation as Json, `${method.toUpperCase()} ${path}`),
      ),
    ),
  ];
}

describe("descriptions in openapi.json", () => {
  let document: Json;

  before(async () => {
    const api = await startApiUnderTest();
    document = (await request(api.url).get("/openapi.json")).body as Json;
    await api.close();
  });

  it("has one of every property, parameter, header, answer and model, and names every object and enumeration", () => {
    expect(lackingOfDocument(document)).to.deep.equal([]);
  });

  it("has one of every tag and every operation", () => {
    const tags = document["tags"] as readonly Json[];
    expect(tags.filter(({ description }) => !isSentence(description))).to.deep.equal([]);
    const operations = entriesOf(document["paths"]).flatMap(([, item]) => Object.values(item as Json) as Json[]);
    for (const { operationId, summary, tags: own } of operations) {
      expect(summary, String(operationId)).to.be.a("string").that.is.not.empty;
      expect(operationId).to.match(/^[a-z][A-Za-z]+$/);
      expect(tags.map(({ name }) => name)).to.include.members(own as string[]);
    }
  });

  it("has what each value of an enumeration means", () => {
    const { schemas } = document["components"] as { readonly schemas: Readonly<Record<string, Json>> };
    const enumerations = Object.entries(schemas).filter(([, schema]) => schema["enum"] !== undefined);
    expect(enumerations).to.not.be.empty;
    for (const [name, schema] of enumerations)
      for (const value of schema["enum"] as string[])
        expect(schema["description"], name).to.contain(`- \`${value}\`: `);
  });

  it("finds what lacks one, and says where to add it", () => {
    const lacking = lackingOfDocument({
      components: {
        schemas: {
          Task: {
            type: "object",
            description: "A task.",
            properties: {
              phase: { enum: ["A"] },
              parts: { type: "array", description: "Its parts.", items: { properties: { id: { type: "string" } } } },
            },
          },
        },
      },
      paths: {
        "/v1/x": {
          get: {
            parameters: [{ name: "sort", schema: { type: "string" } }],
            responses: {
              200: { description: "Ok", headers: { ETag: {} }, content: { j: { schema: { enum: ["B"] } } } },
            },
          },
        },
      },
    });
    expect(lacking.map((line) => line.replace(/;.*$/, ""))).to.deep.equal([
      "Task.phase: no description, or no sentence",
      "Task.phase: an enumeration without a name",
      "Task.parts: an object without a name",
      "Task.parts.id: no description, or no sentence",
      "GET /v1/x, parameter sort: no description, or no sentence",
      "GET /v1/x, 200, header ETag: no description",
      "GET /v1/x, 200: an enumeration without a name",
    ]);
    expect(lacking[0]).to.contain("add it to the fields of Task in src/api/openapi/models");
  });
});

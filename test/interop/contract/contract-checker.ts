import addFormats from "ajv-formats";
import { Ajv } from "ajv";
import { type Document, OpenAPIBackend, type Operation } from "openapi-backend";

/** What went over the wire, with the body parsed where it was JSON and as text where it was not. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as sent, such as `/api/cis/tasks?services=x`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
}

export interface SeenAnswer {
  readonly status: number;
  readonly contentType?: string;
  readonly body?: unknown;
}

/** Says what of an exchange breaks an OpenAPI document; an empty list where nothing does. */
export interface ContractChecker {
  checkRequest(request: SeenRequest): string[];
  checkAnswer(request: SeenRequest, answer: SeenAnswer): string[];
  /** Checks a value that the document types as any object, such as the result of a task, against a schema of its own. */
  checkSchema(schema: string, value: unknown): string[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The document with every object schema closed. The contracts leave nearly every field optional, so a misspelt field
 * would pass unnoticed otherwise.
 */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects);
  if (!isObject(value)) return value;
  const closed = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closeObjects(inner)]));
  const isOpenSchema =
    value["type"] === "object" && isObject(value["properties"]) && !("additionalProperties" in value);
  return isOpenSchema ? { ...closed, additionalProperties: false } : closed;
}

/** `?a=1&a=2` as `{a: ["1", "2"]}`. */
function queryOf(url: string): Record<string, string[]> {
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URL(url, "http://contract").searchParams) (query[name] ??= []).push(value);
  return query;
}

const pathOf = (url: string) => new URL(url, "http://contract").pathname;

/** A query value as the type that its schema declares, so that the schema can judge it. */
function asDeclared(values: readonly string[], schema: unknown): unknown {
  if (isObject(schema) && schema["type"] === "array") return values;
  const value = values.length === 1 ? values[0]! : values;
  if (isObject(schema) && schema["type"] === "boolean")
    return value === "true" ? true : value === "false" ? false : value;
  return value;
}

/**
 * The filter of a GET. The contracts were made from client bindings, which declare a filter as a body; on the wire it
 * is query parameters, either the fields themselves or those of the one structure that holds them.
 */
function filterFields(schema: unknown): Map<string, { readonly parent?: string; readonly schema: unknown }> {
  const fields = new Map<string, { readonly parent?: string; readonly schema: unknown }>();
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (isObject(property) && isObject(property["properties"]))
      for (const [inner, innerSchema] of Object.entries(property["properties"]))
        fields.set(inner, { parent: name, schema: innerSchema });
    else fields.set(name, { schema: property });
  }
  return fields;
}

const isListOfStructures = (schema: unknown) =>
  isObject(schema) && isObject(schema["items"]) && schema["items"]["type"] === "object";

/** The action and task flag that an operation answers to, kept by the contract when actions were folded into it. */
function foldedQueries(operation: Operation): Record<string, string>[] {
  const folds = (operation as { "x-fold"?: [Record<string, string>, string][] })["x-fold"] ?? [];
  return folds.map(([query]) => query);
}

/** Compiles the validators of an OpenAPI 3.0 document; they are compiled as they are first used. */
export async function createContractChecker(document: Document): Promise<ContractChecker> {
  const closed = closeObjects(document) as Document;
  const api = new OpenAPIBackend({
    definition: structuredClone(closed),
    quick: true,
    ajvOpts: { allErrors: true },
    customizeAjv: (ajv) => addFormats(ajv, ["date-time", "uri"]),
  });
  await api.init();

  const findOperation = (request: SeenRequest) =>
    api.router.matchOperation({
      method: request.method.toLowerCase(),
      path: pathOf(request.url),
      headers: { ...request.headers },
    });

  function checkRequest(request: SeenRequest): string[] {
    const operation = findOperation(request);
    if (!operation) return [`the contract has no ${request.method} ${pathOf(request.url)}`];

    const problems: string[] = [];
    const query = queryOf(request.url);
    const declared = new Set(
      (operation.parameters ?? []).flatMap((p) => ("in" in p && p.in === "query" ? [p.name] : [])),
    );
    const folds = foldedQueries(operation);
    const isFolded = (name: string) => query[name]?.[0];
    if (
      declared.has("action") &&
      !folds.some((f) => f["action"] === isFolded("action") && f["vmw-task"] === isFolded("vmw-task"))
    )
      problems.push(`query: no operation has action=${query["action"] ?? ""} with vmw-task=${query["vmw-task"] ?? ""}`);

    let body = request.body;
    const content = operation.requestBody && "content" in operation.requestBody ? operation.requestBody.content : {};
    const schema = content["application/json"]?.schema;
    if (operation.method.toLowerCase() === "get" && schema !== undefined) {
      const filter: Record<string, unknown> = {};
      for (const [name, field] of filterFields(schema)) {
        const values = query[name];
        if (!values) continue;
        declared.add(name);
        // How a list of structures is spelt in a query is written nowhere, so its values are not judged.
        if (isListOfStructures(field.schema)) continue;
        const value = asDeclared(values, field.schema);
        if (field.parent) filter[field.parent] = { ...(filter[field.parent] as object | undefined), [name]: value };
        else filter[name] = value;
      }
      for (const name of Object.keys(query)) if (!declared.has(name)) problems.push(`query: ${name} is no filter here`);
      body = filter;
    } else if (declared.size > 0) {
      for (const name of Object.keys(query))
        if (!declared.has(name)) problems.push(`query: ${name} is not declared, but others are`);
    }

    const parameters = (operation.parameters ?? []).flatMap((p) => ("in" in p && p.in === "query" ? [p] : []));
    const result = api.validateRequest(
      {
        method: request.method.toLowerCase(),
        path: pathOf(request.url),
        headers: { ...request.headers },
        query: Object.fromEntries(
          parameters.flatMap((p) => {
            const values = query[p.name];
            return values ? [[p.name, values.length === 1 ? values[0]! : values] as const] : [];
          }),
        ),
        ...(body !== undefined && { body: typeof body === "object" ? body : JSON.stringify(body) }),
      },
      operation,
    );
    for (const error of result.errors ?? []) problems.push(`${error.instancePath || "request"}: ${error.message}`);
    if (body !== undefined && schema === undefined && request.body !== undefined)
      problems.push("body: the operation takes none");
    return problems;
  }

  function checkAnswer(request: SeenRequest, answer: SeenAnswer): string[] {
    const operation = findOperation(request);
    if (!operation) return [];
    const declared = operation.responses?.[answer.status] ?? operation.responses?.["default"];
    if (!declared) return [`status ${answer.status} is not declared`];
    const content = "content" in declared ? declared.content : undefined;
    if (!content) return answer.body === undefined ? [] : [`status ${answer.status} has no body`];
    if (!answer.contentType?.startsWith("application/json"))
      return [`content type is ${answer.contentType ?? "absent"}`];
    const result = api.validateResponse(answer.body, operation, answer.status);
    return (result.errors ?? []).map((e) => `${e.instancePath || "body"}: ${e.message} ${JSON.stringify(e.params)}`);
  }

  // int64 and password say nothing that JSON could break.
  const schemas = new Ajv({ strict: false, allErrors: true, formats: { int64: true, password: true } });
  addFormats(schemas, ["date-time", "uri"]);
  schemas.addSchema({ ...closed, $id: "contract" });

  function checkSchema(schema: string, value: unknown): string[] {
    const validate = schemas.getSchema(`contract#/components/schemas/${schema}`);
    if (!validate) throw new Error(`the contract has no schema ${schema}`);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((e) => `${e.instancePath || schema}: ${e.message} ${JSON.stringify(e.params)}`);
  }

  return { checkRequest, checkAnswer, checkSchema };
}

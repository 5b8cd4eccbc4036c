import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import * as t from "io-ts";
import { DescribedType, ListOf, model } from "../../domain/codec";
import { quote } from "../../domain/decode";
import { badRequest, type ServiceError } from "../../upgrades/service-error";
import { json } from "../response";
import { noParameters, route, type Route } from "../route";

/** What Temporal stores of a value: its encoding by name, and its bytes. */
interface RawPayload {
  readonly metadata?: Record<string, Uint8Array> | null;
  readonly data?: Uint8Array | null;
}

/** Encrypts and decrypts payloads; a key that is missing is a failure that names it. */
export interface PayloadTranslator {
  encode(payloads: readonly RawPayload[]): TE.TaskEither<ServiceError, readonly RawPayload[]>;
  decode(payloads: readonly RawPayload[]): TE.TaskEither<ServiceError, readonly RawPayload[]>;
}

/** Temporal allows a payload of 2 MiB, which base64 makes a third longer, and asks for several at a time. */
const largestBody = 8 * 1024 * 1024;

/** Groups of four, of which the last may be filled up; an expression that counts them needs a stack for a long text. */
const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const Base64 = new DescribedType<Uint8Array>(
  "bytes in base64",
  { type: "string", format: "byte" },
  (u): u is Uint8Array => u instanceof Uint8Array,
  (u, c) => (typeof u === "string" && isBase64(u) ? t.success(Buffer.from(u, "base64")) : t.failure(u, c)),
  (bytes) => Buffer.from(bytes).toString("base64"),
);

/** Payloads as Protobuf writes them in JSON. */
const Payloads = model(
  { payloads: ListOf(model({}, { metadata: t.record(t.string, Base64), data: Base64 }), { max: 10_000 }) },
  {},
);

/**
 * Temporal's protocol of codec servers: its Web UI and CLI send payloads here to show them, and the CLI to encrypt what
 * it sends. For those who may steer upgrades. Not part of the OpenAPI document, because no client of upgrades calls it.
 */
export function codecRoutes(translator: PayloadTranslator): Route[] {
  return (["decode", "encode"] as const).map((name) =>
    route({
      method: "POST",
      path: `/codec/${name}`,
      access: "READ",
      role: "OPERATOR",
      load: "READ",
      operationId: `${name}Payloads`,
      tag: "codec",
      summary: name === "decode" ? "Decrypt payloads" : "Encrypt payloads",
      documented: false,
      request: { ...noParameters, body: Payloads },
      bodyBytes: largestBody,
      success: { status: 200, description: "Ok", representation: json(Payloads) },
      failures: [400, 403, 500],
      handle: ({ body }) =>
        pipe(
          translator[name](body.payloads),
          TE.mapLeft(ofWhatWasSent),
          TE.map((payloads) => ({ payloads: payloads.map(withoutNull) })),
        ),
    }),
  );
}

/** What cannot be decrypted here is what the client has sent, not what the service needs for its own work. */
function ofWhatWasSent(error: ServiceError): ServiceError {
  if (error._tag !== "PayloadKeyMissing") return error;
  return badRequest({
    path: "payloads",
    code: "PAYLOAD_KEY_MISSING",
    message: `payloads: one is encrypted with the key ${quote(error.keyId)}, which ${error.problem}.`,
    remediation: "Ask the operator to restore that key in PAYLOAD_KEYS_FILE and restart the API (docs/encryption.md).",
  });
}

function withoutNull({ metadata, data }: RawPayload) {
  return { ...(metadata && { metadata: { ...metadata } }), ...(data && { data }) };
}

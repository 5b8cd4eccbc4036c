import { isLeft } from "fp-ts/Either";
import type * as t from "io-ts";
import type { Clock } from "../../../src/clock";
import { type CallOperation, type ObserveCall, outcomeOfStatus, unobserved } from "../call-observation";
import { basicCredentials, type ComponentManagerAccess } from "../component-manager-access";
import { type HttpAnswer, HttpConnection } from "../http-connection";
import { type CredentialTries, triesOf } from "../credential-tries";
import { NotJson, parseAnswer, problemsOf } from "../json-answer";
import { askedBy } from "../judgement";
import { errorOfShape, errorOfTransport } from "../vapi/classify-error";
import { errorOfAnswer } from "./classify-error";

/** One call: `what` completes the sentence "could not …" of its error. */
export interface NsxCall {
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT";
  /** Path below the root, without a leading slash, already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** It starts a check and changes nothing, though it is no GET. */
  readonly onlyChecks?: true;
  /** What it names comes and goes, so that "not found" is an answer. */
  readonly mayBeMissing?: true;
}

export interface NsxHttpOptions {
  /** Milliseconds that one HTTP exchange may take. */
  readonly callTimeout: number;
  /** By which quick retries wait; the machine's by default. */
  readonly clock?: Clock;
  /** Who watches the calls; nobody by default. */
  readonly observe?: ObserveCall;
}

/**
 * The HTTP side of a NETVIRT manager: kept connections, Basic credentials with every call, because a session would not
 * outlive the restarts of the manager, and errors that are already judged ({@link DriverError}).
 */
export class NsxHttp {
  readonly #access: ComponentManagerAccess;
  readonly #http: HttpConnection;
  readonly #observe: ObserveCall;
  readonly #authorization: string;
  readonly #tries: CredentialTries;

  constructor(access: ComponentManagerAccess, { callTimeout, clock, observe = unobserved }: NsxHttpOptions) {
    this.#access = access;
    this.#tries = triesOf(access);
    this.#observe = observe;
    this.#authorization = basicCredentials(access);
    // A kept connection may die with the manager's restart.
    this.#http = new HttpConnection(access.url, {
      callTimeout,
      quickRetries: { limit: 1, statuses: [] },
      ...(clock && { clock }),
    });
  }

  /** Makes a call and decodes its answer. Throws DriverError. */
  async call<A>(call: NsxCall, codec: t.Decoder<unknown, A>): Promise<A> {
    const decoded = codec.decode(await this.#send(call));
    if (isLeft(decoded)) throw errorOfShape(this.#asked(call), problemsOf(decoded.left));
    return decoded.right;
  }

  /** Makes a call whose answer says nothing but that it was accepted. Throws DriverError. */
  async tell(call: NsxCall): Promise<void> {
    await this.#send(call);
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  async #send(call: NsxCall): Promise<unknown> {
    const answer = await this.#observe(
      { product: "nsx", operation: operationOf(call), managerId: this.#access.id, what: call.what },
      () => this.#exchange(call),
      ({ status }) => outcomeOfStatus(status),
    );
    const body = parseAnswer(answer.body);
    if (answer.status < 200 || answer.status > 299) {
      throw errorOfAnswer(this.#asked(call), answer.status, body);
    }
    this.#tries.accepted();
    if (body instanceof NotJson) throw errorOfShape(this.#asked(call), "it is no JSON");
    return body;
  }

  async #exchange(call: NsxCall): Promise<HttpAnswer> {
    const { method, path, query, json } = call;
    try {
      return await this.#http.request({
        changes: this.#asked(call).changes,
        what: call.what,
        method,
        path,
        query: new URLSearchParams(query),
        headers: {
          authorization: this.#authorization,
          ...(json !== undefined && { "content-type": "application/json" }),
        },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
    } catch (error) {
      throw errorOfTransport(this.#asked(call), error);
    }
  }

  #asked(call: NsxCall) {
    return askedBy(call, operationOf(call), { managerId: this.#access.id, tries: this.#tries });
  }
}

function operationOf({ method }: NsxCall): CallOperation {
  return method === "GET" ? "read" : "change";
}

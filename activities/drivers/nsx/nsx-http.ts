import * as http from "node:http";
import * as https from "node:https";
import { isLeft } from "fp-ts/Either";
import got, { type Got } from "got";
import type * as t from "io-ts";
import { type ObserveCall, outcomeOfStatus, unobserved } from "../call-observation";
import type { ComponentManagerAccess } from "../component-manager-access";
import { parseAnswer, problemsOf } from "../json-answer";
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
}

export interface NsxHttpOptions {
  /** Milliseconds that one HTTP exchange may take. */
  readonly callTimeout: number;
  /** Who watches the calls; nobody by default. */
  readonly observe?: ObserveCall;
}

/**
 * The HTTP side of a NETVIRT manager: kept connections, Basic credentials with every call, because a session would not
 * outlive the restarts of the manager, and errors that are already judged ({@link DriverError}).
 */
export class NsxHttp {
  readonly #access: ComponentManagerAccess;
  readonly #got: Got;
  readonly #observe: ObserveCall;
  readonly #agents: { readonly http: http.Agent; readonly https: https.Agent };

  constructor(access: ComponentManagerAccess, { callTimeout, observe = unobserved }: NsxHttpOptions) {
    this.#access = access;
    this.#observe = observe;
    this.#agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };
    const credentials = Buffer.from(`${access.username}:${access.password}`).toString("base64");
    this.#got = got.extend({
      prefixUrl: access.url,
      agent: this.#agents,
      headers: { authorization: `Basic ${credentials}` },
      timeout: { request: callTimeout },
      throwHttpErrors: false,
      followRedirect: false,
      responseType: "text",
      // A kept connection may die with the manager's restart. What changes something is never repeated unasked.
      retry: {
        limit: 1,
        methods: ["GET"],
        statusCodes: [],
        calculateDelay: ({ computedValue }) => computedValue && 100,
      },
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

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  async #send(call: NsxCall): Promise<unknown> {
    const { what, method } = call;
    const answer = await this.#observe(
      { product: "nsx", operation: method === "GET" ? "read" : "change", managerId: this.#access.id, what },
      () => this.#exchange(call),
      ({ statusCode }) => outcomeOfStatus(statusCode),
    );
    const body = parseAnswer(answer.body);
    if (answer.statusCode < 200 || answer.statusCode > 299) {
      throw errorOfAnswer(this.#asked(call), answer.statusCode, body);
    }
    return body;
  }

  async #exchange(call: NsxCall): Promise<{ statusCode: number; body: string }> {
    const { method, path, query, json } = call;
    try {
      return await this.#got(path, {
        method,
        ...(query && { searchParams: { ...query } }),
        ...(json !== undefined && { json }),
      });
    } catch (error) {
      throw errorOfTransport(this.#asked(call), error);
    }
  }

  #asked({ what }: NsxCall) {
    return { managerId: this.#access.id, what };
  }
}

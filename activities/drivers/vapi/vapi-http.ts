import { isLeft } from "fp-ts/Either";
import type * as t from "io-ts";
import pLimit from "p-limit";
import { type Clock, monotonicClock } from "../../../src/clock";
import {
  type CallOperation,
  type ManagerCall,
  type ObserveCall,
  outcomeOfStatus,
  unobserved,
} from "../call-observation";
import {
  basicCredentials,
  type ComponentManagerAccess,
  type CredentialTries,
  triesOf,
} from "../component-manager-access";
import { askedBy, type BusyClassification, NotJson, parseAnswer, problemsOf } from "../error-classification";
import { HttpConnection, maximumConcurrentCalls } from "../http-connection";
import { errorOfAnswer, errorOfShape, errorOfTransport } from "./classify-error";

/** One call: `what` completes the sentence "could not …" of its error. */
export interface VapiCall {
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the root, without a leading slash, already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  /** It starts or makes a check and changes nothing, though it is no GET. */
  readonly onlyChecks?: true;
  /** What it names comes and goes, so that "not found" is an answer. */
  readonly mayBeMissing?: true;
  /** The service that it goes to knows no sessions: it takes user and password with each call. */
  readonly withoutSession?: true;
}

export interface VapiHttpOptions {
  /** Milliseconds that one HTTP exchange may take. */
  readonly callTimeout: number;
  /** This machine's, by default. */
  readonly clock?: Clock;
  /** How often an idempotent GET is repeated at once after a transient error. Default 2. */
  readonly quickRetries?: number;
  /** How a refusal is called that says that the manager is at work on the same thing. */
  readonly busy?: BusyClassification;
  /** Texts that requests hold and nobody may read: hidden in what the manager says, which ends up in errors. */
  readonly secrets?: readonly string[];
  /** Which product speaks it; default `vlcm`. */
  readonly product?: ManagerCall["product"];
  /** Who watches the calls; nobody by default. */
  readonly observe?: ObserveCall;
}

const sessionPath = "api/session";

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * The HTTP side of a component manager: kept connections, one session that all callers share, and errors that are
 * already judged ({@link DriverError}).
 */
export class VapiHttp {
  readonly #access: ComponentManagerAccess;
  readonly #http: HttpConnection;
  readonly #busy: BusyClassification | undefined;
  readonly #secrets: readonly string[];
  readonly #product: ManagerCall["product"];
  readonly #observe: ObserveCall;
  readonly #clock: Clock;
  readonly #limit = pLimit(maximumConcurrentCalls);
  readonly #tries: CredentialTries;
  #session: Promise<string> | undefined;
  #clockOffset = 0;

  constructor(access: ComponentManagerAccess, options: VapiHttpOptions) {
    const { callTimeout, quickRetries = 2, busy, secrets = [], product = "vlcm", observe = unobserved } = options;
    this.#clock = options.clock ?? monotonicClock;
    this.#access = access;
    this.#tries = triesOf(access);
    this.#product = product;
    this.#observe = observe;
    this.#busy = busy;
    this.#secrets = [access.password, ...secrets];
    this.#http = new HttpConnection(access.url, {
      callTimeout,
      quickRetries: { limit: quickRetries, statuses: [500, 502, 503, 504] },
      clock: this.#clock,
    });
  }

  /** The component manager's own time in epoch milliseconds, as its last answer told it: right to the second. */
  now(): number {
    return this.#clock.timeOfDay() + this.#clockOffset;
  }

  /** Makes a call and decodes its answer. Throws DriverError. */
  async call<A>(call: VapiCall, codec: t.Decoder<unknown, A>): Promise<A> {
    const answer = await this.#limit(() => this.#sendAsUser(call));
    if (answer.body instanceof NotJson) throw errorOfShape(this.#asked(call), "it is no JSON");
    const decoded = codec.decode(answer.body);
    if (isLeft(decoded)) throw errorOfShape(this.#asked(call), problemsOf(decoded.left));
    return decoded.right;
  }

  /** Ends the session as far as that is possible, and drops the connections. Never throws. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    try {
      if (session) {
        await this.#send({ what: "log out", method: "DELETE", path: sessionPath }, await session);
      }
    } catch {
      // The session ends by itself when it has been idle.
    } finally {
      await this.#http.close();
    }
  }

  async #sendAsUser(call: VapiCall): Promise<Answer> {
    const answer = call.withoutSession ? await this.#send(call) : await this.#sendWithSession(call);
    if (answer.status < 200 || answer.status > 299) throw errorOfAnswer(this.#asked(call), answer.status, answer.body);
    this.#tries.accepted();
    return answer;
  }

  async #sendWithSession(call: VapiCall): Promise<Answer> {
    const session = this.#openSession();
    const answer = await this.#send(call, await session);
    if (answer.status !== 401) return answer;
    // The session has expired. Only its own finder discards it, so that many callers log in once.
    if (this.#session === session) this.#session = undefined;
    return this.#send(call, await this.#openSession());
  }

  #openSession(): Promise<string> {
    if (!this.#session) {
      const opening = this.#login();
      this.#session = opening;
      opening.catch(() => {
        if (this.#session === opening) this.#session = undefined;
      });
    }
    return this.#session;
  }

  async #login(): Promise<string> {
    const call: VapiCall = { what: "log in", method: "POST", path: sessionPath };
    const answer = await this.#send(call);
    if (answer.status < 200 || answer.status > 299) throw errorOfAnswer(this.#asked(call), answer.status, answer.body);
    if (typeof answer.body !== "string" || answer.body === "")
      throw errorOfShape(this.#asked(call), "no session token");
    return answer.body;
  }

  #send(call: VapiCall, session?: string): Promise<Answer> {
    return this.#observe(
      { product: this.#product, operation: operationOf(call), managerId: this.#access.id, what: call.what },
      () => this.#exchange(call, session),
      ({ status }) => outcomeOfStatus(status),
    );
  }

  async #exchange(call: VapiCall, session?: string): Promise<Answer> {
    const query = Object.entries(call.query ?? {}).flatMap(([name, value]) =>
      [value].flat().map((v): [string, string] => [name, v]),
    );
    const sentAt = this.#clock.timeOfDay();
    try {
      const { status, headers, body } = await this.#http.request({
        changes: this.#asked(call).changes,
        what: call.what,
        method: call.method,
        path: call.path,
        query: new URLSearchParams(query),
        headers: {
          ...(session ? { "vmware-api-session-id": session } : { authorization: basicCredentials(this.#access) }),
          ...(call.json !== undefined && { "content-type": "application/json" }),
        },
        ...(call.json !== undefined && { body: JSON.stringify(call.json) }),
      });
      this.#compareClocks(Date.parse(String(headers["date"])), sentAt);
      const parsed = parseAnswer(body);
      return { status, body: parsed instanceof NotJson ? parsed : conceal(body, parsed, this.#secrets) };
    } catch (error) {
      throw errorOfTransport(this.#asked(call), error);
    }
  }

  /** `date` is the answer's time, cut to the second. Within what it leaves open, the two clocks are taken to agree. */
  #compareClocks(date: number, sentAt: number): void {
    if (Number.isNaN(date)) return;
    this.#clockOffset = Math.min(Math.max(0, date - this.#clock.timeOfDay()), date + 1000 - sentAt);
  }

  #asked(call: VapiCall) {
    return askedBy(call, operationOf(call), {
      managerId: this.#access.id,
      tries: this.#tries,
      ...(this.#busy && { busy: this.#busy }),
    });
  }
}

function operationOf({ method, path }: VapiCall): CallOperation {
  if (path === sessionPath) return "session";
  return method === "GET" ? "read" : "change";
}

/** Shorter ones would be found in ordinary words, and hiding those would tell more than it hides. */
const shortestSecret = 4;

/** Shown for a text that holds a secret which could as well be a word of that text: a gap would tell it. */
const withheld = "(This message is not shown because it may hold a secret.)";

/** Whether a secret reads like a word, a number or a version. */
function isOrdinary(secret: string): boolean {
  return /^(?:\p{L}+|[\d.:-]+)$/u.test(secret);
}

/**
 * What a component manager has answered (its text, and that parsed), with no secret left in the texts for people. Other fields
 * are not touched: nothing is made of them that people read, and a secret that happens to be a status must not change
 * what it means. Most answers hold none, which their text tells at once, unless it is written with escapes.
 */
export function conceal(text: string, body: unknown, secrets: readonly string[]): unknown {
  const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
  const mayHold = text.includes("\\") || hidden.some((secret) => text.includes(secret));
  return mayHold ? concealed(body, hidden) : body;
}

function concealed(value: unknown, secrets: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => concealed(element, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      key === "default_message" && typeof field === "string"
        ? concealedText(field, secrets)
        : concealed(field, secrets),
    ]),
  );
}

function concealedText(text: string, secrets: readonly string[]): string {
  if (secrets.some((secret) => isOrdinary(secret) && text.includes(secret))) return withheld;
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

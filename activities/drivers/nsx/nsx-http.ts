import { isLeft } from "fp-ts/Either";
import type * as t from "io-ts";
import type { Clock } from "../../../src/clock";
import { type CallOperation, type ObserveCall, outcomeOfStatus, unobserved } from "../call-observation";
import {
  basicCredentials,
  type ComponentManagerAccess,
  type CredentialTries,
  triesOf,
} from "../component-manager-access";
import { bounded, type DriverError } from "../driver-error";
import {
  type Asked,
  askedBy,
  type Classification,
  classifyStatus,
  commonClassifications,
  itsOwnWord,
  judged,
  notItsOwn,
  NotJson,
  parseAnswer,
  problemsOf,
} from "../error-classification";
import { type HttpAnswer, HttpConnection } from "../http-connection";
import { errorOfShape, errorOfTransport } from "../vapi/classify-error";

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

const common = commonClassifications("NETVIRT manager");

const stale: Classification = {
  kind: "transient",
  code: "NETVIRT_REVISION_STALE",
  remediation: "Find out who else is editing the plan of the upgrade coordinator, then retry the upgrade.",
};

/** The coordinator's own error codes that are no failures, as the vendor's Terraform provider treats them. */
const byErrorCode: Readonly<Record<number, Classification>> = {
  30023: {
    kind: "transient",
    code: "NETVIRT_STILL_IN_PROGRESS",
    remediation: "Wait until the upgrade coordinator has finished, then retry the upgrade.",
  },
  30953: {
    kind: "alreadyDone",
    code: "NETVIRT_PRECHECKS_RUNNING",
    remediation: "No action required.",
  },
};

const byStatus: Readonly<Record<number, Classification>> = {
  // The product says 403 of a wrong password, of a locked account and of a missing role alike.
  403: {
    ...common.unauthorized,
    remediation:
      "Correct the account of this NETVIRT manager in the inventory, unlock it there if it is locked and give it the role enterprise administrator, then retry the upgrade.",
  },
  409: stale,
  412: stale,
};

/** Judges an answer of a NETVIRT manager that is not a success: by its `error_code` where that says more than the status. */
export function errorOfAnswer(asked: Asked, status: number, body: unknown): DriverError {
  const { error_code, error_message, related_errors } = fieldsOf(body);
  const errorCode = typeof error_code === "number" ? error_code : undefined;
  const related = Array.isArray(related_errors) ? related_errors.map((error) => fieldsOf(error).error_message) : [];
  const texts = [error_message, ...related].filter((text) => typeof text === "string" && text !== "") as string[];
  return judged(asked, classify(asked, status, errorCode, body), {
    answer: errorCode === undefined ? `${status}` : `${status} (error ${errorCode})`,
    status,
    ...(errorCode !== undefined && { errorType: String(errorCode) }),
    causes: texts.map((text) => bounded(text, 300)),
  });
}

function classify(
  { mayBeMissing }: Asked,
  status: number,
  errorCode: number | undefined,
  body: unknown,
): Classification {
  const known = errorCode === undefined ? undefined : byErrorCode[errorCode];
  if (known) return known;
  // A 500 that is the product's own has an error code; one without comes from a proxy before a service that starts.
  if (status === 500 && errorCode === undefined) return common.unreachable;
  const classification = byStatus[status] ?? classifyStatus(common, status);
  if (body instanceof NotJson) return notItsOwn(classification);
  return status === 404 && mayBeMissing && errorCode !== undefined ? itsOwnWord(classification) : classification;
}

function fieldsOf(body: unknown): { error_code?: unknown; error_message?: unknown; related_errors?: unknown } {
  return typeof body === "object" && body !== null ? body : {};
}

import { isLeft } from "fp-ts/Either";
import pLimit from "p-limit";
import type { Clock } from "../../../src/clock";
import type { XmlObject, XmlValue } from "../../../src/xml";
import { type CallOperation, type CallOutcome, type ObserveCall, unobserved } from "../call-observation";
import { type ComponentManagerAccess, type CredentialTries, triesOf } from "../component-manager-access";
import type { Asked } from "../error-classification";
import { HttpConnection, maximumConcurrentCalls } from "../http-connection";
import { errorOfShape, errorOfTransport } from "../vapi/classify-error";
import {
  answerOf,
  envelopeOf,
  errorOfFault,
  errorOfStatus,
  type ManagedObject,
  serviceInstance,
  type SoapAnswer,
} from "./soap";
import { ServiceContent } from "./vim25-models";

/** One method call: `what` completes the sentence "could not …" of its error. */
export interface Vim25Call {
  readonly what: string;
  readonly self: ManagedObject;
  readonly method: string;
  /** The method's parameters, in the order of the vendor's schema. */
  readonly args?: XmlObject;
  /** Tells from what was returned that there is no session any more; a fault says so anyway. */
  readonly tellsLostSession?: (returned: readonly XmlValue[]) => boolean;
}

/** What is known of the manager once we are logged in. */
interface Connection {
  readonly cookie: string;
  readonly content: ServiceContent;
}

/** The version of the interface in which the first call is made; every manager that can still be met speaks it. */
const firstVersion = "6.5";

export interface Vim25HttpOptions {
  /** Milliseconds that one HTTP exchange may take. */
  readonly callTimeout: number;
  /** The machine's by default. */
  readonly clock?: Clock;
  /** Who watches the calls; nobody by default. */
  readonly observe?: ObserveCall;
}

interface Exchanged {
  readonly answer: SoapAnswer;
  readonly status: number;
  readonly cookie: string | undefined;
}

/**
 * The SOAP side of a component manager under `/sdk`: kept connections, one cookie session that all callers share, and
 * errors that are already judged ({@link DriverError}). Nothing is repeated unasked but the login.
 */
export class Vim25Http {
  readonly #access: ComponentManagerAccess;
  readonly #http: HttpConnection;
  readonly #observe: ObserveCall;
  readonly #limit = pLimit(maximumConcurrentCalls);
  readonly #tries: CredentialTries;
  #connection: Promise<Connection> | undefined;

  constructor(access: ComponentManagerAccess, { callTimeout, clock, observe = unobserved }: Vim25HttpOptions) {
    this.#access = access;
    this.#tries = triesOf(access);
    this.#observe = observe;
    const quickRetries = { limit: 0, statuses: [] };
    this.#http = new HttpConnection(access.url, { callTimeout, quickRetries, ...(clock && { clock }) });
  }

  /** The manager's root objects, after a login where there is no session. */
  async content(): Promise<ServiceContent> {
    return (await this.#connect()).content;
  }

  /** Calls a method and gives all that it returned. Throws DriverError. */
  call(call: Vim25Call): Promise<readonly XmlValue[]> {
    return this.#limit(() => this.#callWithSession(call));
  }

  async #callWithSession(call: Vim25Call): Promise<readonly XmlValue[]> {
    const connection = this.#connect();
    const { content, cookie } = await connection;
    let { answer, status } = await this.#send(call, content.about.apiVersion, cookie);
    if (hasLostSession(call, answer)) {
      // The session has expired. Only its own finder discards it, so that many callers log in once.
      if (this.#connection === connection) this.#connection = undefined;
      const renewed = await this.#connect();
      ({ answer, status } = await this.#send(call, renewed.content.about.apiVersion, renewed.cookie));
    }
    return this.#returned(call, answer, status);
  }

  /** Ends the session as far as that is possible, and drops the connections. Never throws. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      if (connection) {
        const { content, cookie } = await connection;
        const call = { what: "log out", self: content.sessionManager, method: "Logout" };
        await this.#send(call, content.about.apiVersion, cookie);
      }
    } catch {
      // The session ends by itself when it has been idle.
    } finally {
      await this.#http.close();
    }
  }

  #connect(): Promise<Connection> {
    if (!this.#connection) {
      const opening = this.#login();
      this.#connection = opening;
      opening.catch(() => {
        if (this.#connection === opening) this.#connection = undefined;
      });
    }
    return this.#connection;
  }

  async #login(): Promise<Connection> {
    const about: Vim25Call = {
      what: "read the service content",
      self: serviceInstance,
      method: "RetrieveServiceContent",
    };
    const first = await this.#send(about, firstVersion);
    const decoded = ServiceContent.decode(this.#returned(about, first.answer, first.status)[0]);
    if (isLeft(decoded)) throw errorOfShape(this.#asked(about), "it is no service content");
    const content = decoded.right;

    const { username: userName, password } = this.#access;
    const login = { what: "log in", self: content.sessionManager, method: "Login", args: { userName, password } };
    const second = await this.#send(login, content.about.apiVersion);
    this.#returned(login, second.answer, second.status);
    this.#tries.accepted();
    const cookie = second.cookie ?? first.cookie;
    if (cookie === undefined) throw errorOfShape(this.#asked(login), "no session cookie");
    return { cookie, content };
  }

  #send(call: Vim25Call, version: string, cookie?: string): Promise<Exchanged> {
    const { what, method } = call;
    return this.#observe(
      { product: "vim25", operation: operationOf(method), managerId: this.#access.id, what },
      () => this.#exchange(call, version, cookie),
      ({ answer }) => outcomes[answer._tag],
    );
  }

  async #exchange(call: Vim25Call, version: string, cookie?: string): Promise<Exchanged> {
    try {
      const { status, headers, body } = await this.#http.request({
        changes: changes(call.method),
        what: call.what,
        method: "POST",
        path: "sdk",
        headers: {
          "content-type": 'text/xml; charset="utf-8"',
          soapaction: `"urn:vim25/${version}"`,
          ...(cookie !== undefined && { cookie }),
        },
        body: envelopeOf(call.self, call.method, call.args ?? {}),
      });
      const cookies = [headers["set-cookie"] ?? []].flat().map((line) => line.split(";")[0] ?? "");
      return {
        answer: answerOf(call.method, body),
        status,
        cookie: cookies.find((pair) => pair.startsWith("vmware_soap_session=")),
      };
    } catch (error) {
      throw errorOfTransport(this.#asked(call), error);
    }
  }

  #returned(call: Vim25Call, answer: SoapAnswer, status: number): readonly XmlValue[] {
    if (answer._tag === "Returned") return answer.all;
    if (answer._tag === "Fault") throw errorOfFault(this.#asked(call), answer.fault, status);
    if (status < 200 || status > 299) throw errorOfStatus(this.#asked(call), status);
    throw errorOfShape(this.#asked(call), answer.problem);
  }

  #asked({ what, method }: Pick<Vim25Call, "what" | "method">): Asked {
    return { managerId: this.#access.id, what, changes: changes(method), tries: this.#tries };
  }
}

const outcomes: Readonly<Record<SoapAnswer["_tag"], CallOutcome>> = {
  Returned: "ok",
  Fault: "refused",
  NotSoap: "failed",
};

/** Methods that check something and change nothing. */
const onlyChecks: ReadonlySet<string> = new Set(["CheckHostPatch_Task", "ClusterEnterMaintenanceMode"]);

function changes(method: string): boolean {
  return operationOf(method) === "change" && !onlyChecks.has(method);
}

function operationOf(method: string): CallOperation {
  if (/^(RetrieveServiceContent|Login|Logout)$/.test(method)) return "session";
  return /^(Retrieve|Query|Continue|Find|CurrentTime$)/.test(method) ? "read" : "change";
}

function hasLostSession({ tellsLostSession }: Vim25Call, answer: SoapAnswer): boolean {
  if (answer._tag === "Fault") return answer.fault.type === "NotAuthenticated";
  return answer._tag === "Returned" && (tellsLostSession?.(answer.all) ?? false);
}

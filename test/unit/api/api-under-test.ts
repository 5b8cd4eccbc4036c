import { connect, type Socket } from "node:net";
import { Writable } from "node:stream";
import { expect } from "chai";
import * as TE from "fp-ts/TaskEither";
import { type Logger, pino } from "pino";
import { type ApiDependencies, createApi } from "../../../src/api/create-api";
import {
  activityExample,
  bundleExample,
  cancelledTaskExample,
  clusterHoldExample,
  freezeExample,
  countsExample,
  clusterExample,
  pageExample,
  pageOfBundleExample,
  pageOfClusterExample,
  pageOfHoldExample,
  pageOfIsoExample,
  pageOfManagementServerExample,
  pageOfNetvirtExample,
  pageOfPersonalityExample,
  pageOfReadinessExample,
  pageOfScheduleExample,
  pageOfTaskExample,
  precheckTaskExample,
  previewExample,
  readinessExample,
  retriedTaskExample,
  taskExample,
  upgradeSpecExample,
  upgradeExample,
} from "../../../src/api/openapi/examples";
import type { ApiLimits } from "../../../src/api/request-body";
import type { ConsoleInstallation } from "../../../src/api/routes/console";
import { type ConnectionLimits, startApi } from "../../../src/api/start-api";
import type { Authentication } from "../../../src/authentication/authentication";
import { devAuthentication } from "../../../src/authentication/dev-authentication";
import { ErrorBody } from "../../../src/domain/errors";
import type { PageRequest } from "../../../src/domain/page";
import type { UpgradeFilter } from "../../../src/upgrades/ports";
import type { TaskEvent, TaskListener } from "../../../src/upgrades/task-history";
import type { StartRequest, UpgradeService } from "../../../src/upgrades/upgrade-service";

/** What the use cases were asked, in order. */
export interface Calls {
  readonly started: StartRequest[];
  readonly listed: { filter: UpgradeFilter; page: PageRequest | undefined }[];
  readonly read: string[];
  /** Every other use case: its name and what it was given. */
  readonly asked: unknown[][];
}

/** A line of the service's log. */
export type LogLine = Record<string, unknown> & { readonly level: number };

export interface ApiUnderTest {
  readonly url: string;
  readonly port: number;
  readonly calls: Calls;
  /** Without those of the audit trail. */
  readonly logLines: LogLine[];
  readonly auditLines: LogLine[];
  close(): Promise<void>;
}

export interface ApiOptions {
  readonly service?: Partial<UpgradeService>;
  /** What is not given is that of AUTH_MODE=dev. */
  readonly authentication?: Partial<Authentication>;
  readonly limits?: ApiLimits;
  readonly connectionLimits?: Partial<ConnectionLimits>;
  /** Without it there is no console. */
  readonly console?: ConsoleInstallation;
  /** Without it there are no documents. */
  readonly documents?: string;
  readonly addressOf?: ApiDependencies["addressOf"];
  readonly codec?: ApiDependencies["codec"];
  readonly loadControl?: ApiDependencies["loadControl"];
}

/** A log that is kept in memory, the lines of the audit trail by themselves. */
export function memoryLog(): { log: Logger; lines: LogLine[]; auditLines: LogLine[] } {
  const lines: LogLine[] = [];
  const auditLines: LogLine[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const line = JSON.parse(chunk.toString()) as LogLine;
      (line["event"] === "audit" ? auditLines : lines).push(line);
      done();
    },
  });
  return { log: pino({ level: "debug" }, stream), lines, auditLines };
}

/** Use cases that succeed with the document's examples and record what they were asked. */
export function fakeService(calls: Calls): UpgradeService {
  const asked =
    <A>(name: keyof UpgradeService, answer: A) =>
    (...given: unknown[]) => {
      calls.asked.push([name, ...given]);
      return TE.right(answer);
    };
  return {
    previewUpgrade: asked("previewUpgrade", previewExample),
    updateUpgrade: asked("updateUpgrade", upgradeExample),
    controlUpgrade: asked("controlUpgrade", upgradeExample),
    decideApproval: asked("decideApproval", upgradeExample),
    skipPart: asked("skipPart", upgradeExample),
    retryParts: asked("retryParts", upgradeExample),
    runPrechecks: asked("runPrechecks", precheckTaskExample),
    acknowledgeFinding: asked("acknowledgeFinding", precheckTaskExample),
    countUpgrades: asked("countUpgrades", countsExample),
    readPrechecks: asked("readPrechecks", precheckTaskExample),
    readRequest: asked("readRequest", upgradeSpecExample),
    readPlan: asked("readPlan", previewExample),
    readActivity: asked("readActivity", activityExample),
    putFreeze: asked("putFreeze", freezeExample),
    readFreeze: asked("readFreeze", freezeExample),
    liftFreeze: asked("liftFreeze", freezeExample),
    putHold: asked("putHold", clusterHoldExample),
    releaseHold: asked("releaseHold", undefined),
    listHolds: asked("listHolds", pageOfHoldExample),
    startReadiness: asked("startReadiness", readinessExample),
    listReadiness: asked("listReadiness", pageOfReadinessExample),
    listReadinessSchedules: asked("listReadinessSchedules", pageOfScheduleExample),
    deleteReadinessSchedule: asked("deleteReadinessSchedule", undefined),
    listTasks: asked("listTasks", pageOfTaskExample),
    retryTask: asked("retryTask", retriedTaskExample),
    cancelTask: asked("cancelTask", cancelledTaskExample),
    listBundles: asked("listBundles", pageOfBundleExample),
    readBundle: asked("readBundle", bundleExample),
    listClusters: asked("listClusters", pageOfClusterExample),
    readCluster: asked("readCluster", clusterExample),
    listNetvirt: asked("listNetvirt", pageOfNetvirtExample),
    listManagementServers: asked("listManagementServers", pageOfManagementServerExample),
    listPersonalities: asked("listPersonalities", pageOfPersonalityExample),
    listIsos: asked("listIsos", pageOfIsoExample),
    startUpgrade: (request) => {
      calls.started.push(request);
      return TE.right(taskExample);
    },
    listUpgrades: (filter, page) => {
      calls.listed.push({ filter, page });
      return TE.right(pageExample);
    },
    getUpgrade: (id) => {
      calls.read.push(id);
      return TE.right(upgradeExample);
    },
    getTask: (id) => {
      calls.read.push(id);
      return TE.right(taskExample);
    },
    watchTask: (id) => {
      calls.read.push(id);
      return TE.right(listenerTo(taskExample.id, [{ type: "END", status: "Successful" }]));
    },
    close: () => undefined,
    checkReady: () => TE.right([]),
  };
}

/** Is told these events and nothing more. */
function listenerTo(taskId: string, events: TaskEvent[]): TaskListener {
  return { taskId, next: () => Promise.resolve(events.shift()), leave: () => undefined };
}

/** A real listener on a free port over fake use cases; `service` replaces some of them. */
export async function startApiUnderTest(options: ApiOptions = {}): Promise<ApiUnderTest> {
  const calls: Calls = { started: [], listed: [], read: [], asked: [] };
  const { log, lines, auditLines } = memoryLog();
  const app = createApi({
    service: { ...fakeService(calls), ...options.service },
    authentication: { ...devAuthentication, ...options.authentication },
    log,
    version: "1.2.3",
    ...(options.limits && { limits: options.limits }),
    ...(options.console && { console: options.console }),
    ...(options.documents !== undefined && { documents: options.documents }),
    ...(options.addressOf && { addressOf: options.addressOf }),
    ...(options.codec && { codec: options.codec }),
    ...(options.loadControl && { loadControl: options.loadControl }),
  });
  const api = await startApi(app, {
    host: "127.0.0.1",
    port: 0,
    log,
    ...(options.connectionLimits && { limits: options.connectionLimits }),
  });
  return {
    url: api.url,
    port: Number(new URL(api.url).port),
    calls,
    logLines: lines,
    auditLines,
    close: () => api.close(),
  };
}

/** An HTTP answer as far as the assertions look at it. */
export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

/** Asserts that an answer is the specification's Error, complete, with this status and code; gives its body. */
export function expectError(answer: Answer, status: number, code: string): ErrorBody {
  expect(answer.headers["content-type"], answer.text).to.equal("application/json");
  const body: unknown = JSON.parse(answer.text);
  if (!ErrorBody.is(body)) throw new Error(`Not an Error: ${answer.text}`);
  expect({ status: answer.status, code: body.errorCode }, answer.text).to.deep.equal({ status, code });
  for (const field of ["errorType", "message", "remediationMessage", "referenceToken"] as const) {
    expect(body[field], field).to.be.a("string").and.not.equal("");
  }
  expect(answer.headers["x-request-id"]).to.equal(body.referenceToken);
  expect(answer.headers["link"]).to.equal(`</docs/error-codes#${code}>; rel="help"`);
  expect(answer.headers["x-content-type-options"]).to.equal("nosniff");
  expect(ErrorBody.encode(body), "no field beyond the specification's").to.deep.equal(body);
  return body;
}

/** Sends bytes as they are and gives everything that comes back until the other side closes. */
export function sendRaw(port: number, ...chunks: (string | Buffer)[]): Promise<Answer[]> {
  return exchange(port, chunks, () => undefined);
}

/** The same, and ends its own side at once. */
export function sendRawAndEnd(port: number, ...chunks: (string | Buffer)[]): Promise<Answer[]> {
  return exchange(port, chunks, (socket) => socket.end());
}

function exchange(port: number, chunks: (string | Buffer)[], sent: (socket: Socket) => void): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => {
      for (const chunk of chunks) socket.write(chunk);
      sent(socket);
    });
    socket.on("data", (data) => received.push(data));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "ECONNRESET") reject(error);
    });
    socket.on("close", () => resolve(parseAnswers(Buffer.concat(received).toString())));
  });
}

/** The answers of a connection, which all have a Content-Length. */
export function parseAnswers(text: string): Answer[] {
  const answers: Answer[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = Number(headers["content-length"] ?? 0);
    answers.push({ status: Number(statusLine.split(" ")[1]), headers, text: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

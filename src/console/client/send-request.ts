import { ErrorBody } from "../../domain/errors";
import { endOfRequest } from "../model/end-of-request";
import { afterAnswer, clockOffset, unknownClock } from "../model/server-clock";
import { authorization } from "./session";

/**
 * Why the API did not do what was asked. `isUnreachable`: it gave no answer at all. `retryAfterSeconds`: when it wants to
 * be asked again, where it said so.
 */
export class ApiFailure extends Error {
  constructor(
    readonly body: ErrorBody,
    readonly isUnreachable = false,
    readonly retryAfterSeconds = 0,
  ) {
    super(body.message);
  }
}

/** The failure of a request that got no answer. */
function unreachable(): ApiFailure {
  return new ApiFailure(
    {
      message: "The API does not answer.",
      remediationMessage: "Check that the service runs; the console retries automatically.",
    },
    true,
  );
}

/** For how many seconds the API does not want to be asked again; 0 where it did not say. */
export function retryAfterOf(thrown: unknown): number {
  return thrown instanceof ApiFailure ? thrown.retryAfterSeconds : 0;
}

/** What to show of anything that was thrown. */
export function errorBodyOf(thrown: unknown): ErrorBody {
  if (thrown instanceof ApiFailure) return thrown.body;
  return {
    message: thrown instanceof Error ? thrown.message : "Something went wrong in this page.",
    remediationMessage: "Load the page again.",
  };
}

let bounds = unknownClock;

/** Learns the service's time from an answer that was asked for at `sent`, in epoch milliseconds of the browser. */
function noteServerTime(answer: Response, sent: number): void {
  const date = Date.parse(answer.headers.get("date") ?? "");
  if (!Number.isNaN(date)) bounds = afterAnswer(bounds, { sent, received: Date.now(), date });
}

/** Epoch milliseconds by the clock of the service, which is that of all times in a Task; the browser's may be wrong. */
export function serverNow(): number {
  return Date.now() + clockOffset(bounds);
}

/** One request to the API; `body` is sent as JSON. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Of an answer that goes on: whoever reads it ends it when nothing comes any more. */
  readonly goesOn?: true;
}

/** Sends a request with the credentials of this tab. Rejects with `ApiFailure` where there is no answer in time. */
export async function sendRequest(request: ApiRequest): Promise<Response> {
  const { method = "GET", path, body, headers, signal } = request;
  const sent = Date.now();
  try {
    const answer = await fetch(path, {
      method,
      cache: "no-store",
      headers: {
        ...authorization(),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: endOfRequest(request),
    });
    noteServerTime(answer, sent);
    return answer;
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw unreachable();
  }
}

/** Why the API has refused, by the answer that says so. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const decoded = ErrorBody.decode(await readJson(response).catch(() => undefined));
  const retryAfterSeconds = Number(response.headers.get("retry-after")) || 0;
  return decoded._tag === "Right" ? new ApiFailure(decoded.right, false, retryAfterSeconds) : unreachable();
}

/** The body of an answer. Rejects with `ApiFailure` where it is not JSON, or breaks off. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    throw unreachable();
  }
}

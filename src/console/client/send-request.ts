import { ErrorBody } from "../../domain/error-body";
import { endOfRequest } from "../model/end-of-request";
import { ApiFailure, unreachable } from "./api-failure";
import { noteServerTime } from "./server-time";
import { authorization } from "./session";

/** One request to the API; `body` is sent as JSON. */
export interface ApiRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
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

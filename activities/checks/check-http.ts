import * as E from "fp-ts/Either";
import { AnswerTooLargeError, readBoundedText } from "../../src/bounded-body";
import { systemCode } from "../system-code";

/** The longest answer of a check that is read, in bytes. */
const answerBytes = 1024 * 1024;

/** One request to what answers a check. */
interface CheckRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutSeconds: number;
  /** A status with which the body may be anything. */
  readonly acceptsEmpty?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer in JSON. */
interface CheckResponse {
  readonly status: number;
  readonly json: unknown;
}

/**
 * The answer with a status of 200 to 299 and a body of JSON. On the left what is wrong with it, without the address. Bounded in
 * time and bytes; follows no redirect, which would lead where no operator has sent it.
 */
export async function fetchJson(request: CheckRequest): Promise<E.Either<string, CheckResponse>> {
  const { url, method, headers, body, timeoutSeconds, signal } = request;
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, accept: "application/json", "user-agent": "upgrade-management-service" },
      redirect: "manual",
      signal: signal ? AbortSignal.any([late, signal]) : late,
      ...(body !== undefined && { body }),
    });
    const { status } = response;
    if (status < 200 || status >= 300) {
      await response.body?.cancel();
      return E.left(`It answered ${status}${status < 400 ? ", and redirects are not followed" : ""}.`);
    }
    const text = await readBoundedText(response.body, { whose: "the check", bytes: answerBytes });
    const json = E.tryCatch(
      () => JSON.parse(text) as unknown,
      () => `It answered ${status} with something that is not JSON.`,
    );
    if (E.isLeft(json) && status !== request.acceptsEmpty) return json;
    return E.right({ status, json: E.isRight(json) ? json.right : undefined });
  } catch (error) {
    if (error instanceof AnswerTooLargeError) return E.left("Its answer is longer than 1 MiB, and was not read.");
    if (late.aborted) return E.left(`It did not answer within ${timeoutSeconds} s.`);
    return E.left(`It is not reachable${systemCode(error)}.`);
  }
}

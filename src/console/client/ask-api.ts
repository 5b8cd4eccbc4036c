import * as t from "io-ts";
import { model } from "../../domain/codec";
import { ConsoleConfig } from "../../domain/console-config";
import { ErrorBody } from "../../domain/error-body";
import { ApiFailure, unreachable } from "./api-failure";
import { authorization, installation, refreshId, setTokens, type SessionTokens } from "./session";

interface ApiRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const TokenPair = model({ accessToken: t.string, refreshToken: model({ id: t.string }, {}) }, {});

/** Asks the API and reads its answer by a codec. Rejects with `ApiFailure`, also where there is no answer. */
export async function askApi<A>(codec: t.Type<A, unknown, unknown>, request: ApiRequest): Promise<A> {
  const response = await openApi(request);
  const decoded = codec.decode(await readJson(response));
  if (decoded._tag === "Right") return decoded.right;
  throw new ApiFailure({
    message: `The answer to ${request.path} is not what this page expects.`,
    remediationMessage: "Load the page again: the service may have been updated.",
  });
}

/** Asks the API for an answer that is not read here: one that goes on, or none. Renews the session where it has expired. */
export async function openApi(request: ApiRequest): Promise<Response> {
  const response = await send(request);
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (failure.body.errorCode !== "Unauthorized") throw failure;
  if (await renewSession()) {
    const second = await send(request);
    if (second.ok) return second;
    throw await failureOf(second);
  }
  setTokens(undefined);
  throw failure;
}

/** Reads what the console has to know first. */
export async function loadInstallation(): Promise<void> {
  installation.value = await askApi(ConsoleConfig, { path: "/console-config.json" });
}

/** Signs in where the service itself knows its users. */
export async function signIn(username: string, password: string): Promise<void> {
  const response = await send({ method: "POST", path: "/v1/tokens", body: { username, password } });
  if (!response.ok) throw await failureOf(response);
  const pair = TokenPair.decode(await readJson(response));
  if (pair._tag === "Left") throw unreachable();
  setTokens({ accessToken: pair.right.accessToken, refreshId: pair.right.refreshToken.id });
}

/** Signs out: the refresh token is revoked, if the API can still be reached. */
export async function signOut(): Promise<void> {
  const id = refreshId();
  setTokens(undefined);
  if (id !== undefined)
    await send({ method: "DELETE", path: "/v1/tokens/refresh-token", body: id }).catch(() => undefined);
}

let renewal: Promise<boolean> | undefined;

/** All requests that find the session expired share one renewal. */
function renewSession(): Promise<boolean> {
  renewal ??= renew().finally(() => (renewal = undefined));
  return renewal;
}

async function renew(): Promise<boolean> {
  const id = refreshId();
  if (id === undefined) return false;
  const response = await send({ method: "PATCH", path: "/v1/tokens/access-token/refresh", body: id });
  const accessToken = response.ok ? await readJson(response) : undefined;
  if (typeof accessToken !== "string") return false;
  setTokens({ accessToken, refreshId: id } satisfies SessionTokens);
  return true;
}

async function send({ method = "GET", path, body, headers, signal }: ApiRequest): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      cache: "no-store",
      headers: {
        ...authorization(),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw unreachable();
  }
}

async function failureOf(response: Response): Promise<ApiFailure> {
  const decoded = ErrorBody.decode(await readJson(response).catch(() => undefined));
  return decoded._tag === "Right" ? new ApiFailure(decoded.right) : unreachable();
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return (await response.json()) as unknown;
  } catch {
    throw unreachable();
  }
}

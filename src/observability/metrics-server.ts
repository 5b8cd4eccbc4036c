import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import * as E from "fp-ts/Either";
import { errorResponse } from "../api/error-response";
import type { MetricsSource } from "../api/routes/health";
import { oneLine, StartupError } from "../startup-error";
import type { UpgradeService } from "../upgrades/upgrade-service";

/** A server that answers `GET /metrics` and nothing else, to anybody who can reach it. Rejects where it cannot listen. */
export function startMetricsServer({ contentType, read }: MetricsSource, address: string): Promise<() => void> {
  return startPlainServer(address, (request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") return void response.writeHead(404).end();
    read().then(
      (text) => response.writeHead(200, { "content-type": contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

/** Where a process tells its health: `host:port`, or nowhere, and the variable that says so. */
interface HealthPlace {
  readonly address: string | undefined;
  readonly variable: "API_HEALTH_ADDRESS" | "WORKER_HEALTH_ADDRESS";
}

/**
 * Answers `GET /health/live` and `GET /health/ready` as the API does, but without TLS, client certificates and
 * credentials: for the probes of whatever runs the process. Gives the function that ends it; throws a StartupError
 * where it cannot listen.
 */
export async function serveHealth(
  checkReady: UpgradeService["checkReady"],
  { address, variable }: HealthPlace,
): Promise<() => void> {
  if (address === undefined) return () => undefined;
  const server = startPlainServer(address, (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const path = request.method === "GET" ? request.url : undefined;
    // The event loop that answers is the one that does the work.
    if (path === "/health/live") return void answer(200, { status: "UP" });
    if (path !== "/health/ready") return void response.writeHead(404).end();
    void checkReady()().then((ready) => {
      if (E.isRight(ready))
        return answer(200, { status: "UP", ...(ready.right.length > 0 && { problems: ready.right }) });
      const failed = { requestId: randomUUID(), access: "OPEN" } as const;
      const { status, body } = errorResponse({ _tag: "NotReady", reason: ready.left }, failed);
      return answer(status, body);
    });
  });
  return server.catch((error: unknown) => {
    throw new StartupError(
      `${variable}=${address}: the health server cannot listen there (${oneLine(error)}). Choose another address.`,
    );
  });
}

/**
 * A server for the platform's own eyes, without TLS and credentials, at `host:port`. Gives the function that ends it;
 * rejects where it cannot listen.
 */
async function startPlainServer(address: string, answer: RequestListener): Promise<() => void> {
  const { hostname, port } = new URL(`http://${address}`);
  const server = createServer(answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // A URL leaves its default port out.
    server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ""), resolve);
  });
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

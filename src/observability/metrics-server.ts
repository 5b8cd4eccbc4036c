import type { MetricsSource } from "../api/metrics-routes";
import { startPlainServer } from "./plain-server";

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

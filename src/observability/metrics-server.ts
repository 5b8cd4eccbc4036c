import { createServer } from "node:http";
import type { MetricsSource } from "../api/metrics-routes";

/** A server that answers `GET /metrics` and nothing else, to anybody who can reach it. Rejects where it cannot listen. */
export async function startMetricsServer({ contentType, read }: MetricsSource, address: string): Promise<() => void> {
  const { hostname, port } = new URL(`http://${address}`);
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/metrics") return void response.writeHead(404).end();
    read().then(
      (text) => response.writeHead(200, { "content-type": contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
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

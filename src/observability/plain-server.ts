import { createServer, type RequestListener } from "node:http";

/**
 * A server for the platform's own eyes, without TLS and credentials, at `host:port`. Gives the function that ends it;
 * rejects where it cannot listen.
 */
export async function startPlainServer(address: string, answer: RequestListener): Promise<() => void> {
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

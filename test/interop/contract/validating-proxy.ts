import * as http from "node:http";
import type { AddressInfo } from "node:net";
import type { Document } from "openapi-backend";
import { createContractChecker, type SeenRequest } from "./contract-checker";

/** One way in which a request or its answer broke the contract. */
export interface Violation {
  readonly side: "request" | "answer";
  /** Method, path and query, such as `POST /api/session`. */
  readonly call: string;
  /** Status of the answer; absent for a request. */
  readonly status?: number;
  readonly problem: string;
}

/** `violations` grows while the proxy runs; `calls` are all that passed, violating or not. */
export interface ValidatingProxy {
  readonly url: string;
  readonly violations: readonly Violation[];
  readonly calls: readonly string[];
  close(): Promise<void>;
}

async function readBody(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parseBody(bytes: Buffer, contentType: string | undefined): { body?: unknown } {
  if (bytes.length === 0) return {};
  const text = bytes.toString("utf8");
  if (!contentType?.startsWith("application/json")) return { body: text };
  try {
    return { body: JSON.parse(text) as unknown };
  } catch {
    return { body: text };
  }
}

function forward(target: URL, request: http.IncomingMessage, body: Buffer): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { connection: _, "transfer-encoding": __, host: ___, ...headers } = request.headers;
    const outgoing = http.request(
      new URL(`${target.pathname.replace(/\/$/, "")}${request.url ?? "/"}`, target),
      {
        method: request.method ?? "GET",
        agent: false,
        headers: { ...headers, ...(body.length > 0 && { "content-length": body.length }) },
      },
      resolve,
    );
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/**
 * An HTTP server on a free port that forwards everything to `target` unchanged and checks both directions against an
 * OpenAPI document. A broken contract never changes the answer: it is only recorded in `violations`. A connection
 * that the target drops is dropped towards the caller too.
 */
export async function startValidatingProxy(options: { target: string; document: Document }): Promise<ValidatingProxy> {
  const checker = await createContractChecker(options.document);
  const violations: Violation[] = [];
  const calls: string[] = [];
  const target = new URL(options.target);

  async function handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const sent = await readBody(request);
    const method = request.method ?? "GET";
    const seen: SeenRequest = {
      method,
      // The upgrade service has the same operations below a path of its own.
      url: (request.url ?? "/").replace(/^\/lcm\/api\//, "/api/"),
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])),
      ),
      ...parseBody(sent, request.headers["content-type"]),
    };
    const call = `${method} ${request.url ?? "/"}`;
    calls.push(call);
    for (const problem of checker.checkRequest(seen)) violations.push({ side: "request", call, problem });

    const answer = await forward(target, request, sent);
    const received = await readBody(answer);
    const status = answer.statusCode ?? 0;
    const contentType = answer.headers["content-type"];
    const seenAnswer = {
      status,
      ...(contentType !== undefined && { contentType }),
      ...parseBody(received, contentType),
    };
    for (const problem of checker.checkAnswer(seen, seenAnswer))
      violations.push({ side: "answer", call, status, problem });

    const { connection: _, "transfer-encoding": __, ...headers } = answer.headers;
    response.writeHead(status, headers);
    response.end(received);
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    violations,
    calls,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

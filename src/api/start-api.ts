import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type Koa from "koa";
import type { Logger } from "pino";
import { badRequest, type Problem } from "../upgrades/service-error";
import type { ApiState } from "./api-context";
import { errorMessage } from "./middleware/errors";
import { oldestTls, type RenewedTls } from "./tls-files";

export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Logger;
  readonly limits?: Partial<ConnectionLimits>;
  /** Without it the API speaks plain HTTP. */
  readonly tls?: RenewedTls;
}

/** How long, in milliseconds, a connection may take for each of its parts. */
export interface ConnectionLimits {
  /** The TLS handshake, and then the headers of a request. */
  readonly headers: number;
  /** All of a request, headers and body. */
  readonly request: number;
  /** Between two requests of one connection. */
  readonly keepAlive: number;
  /** Without a byte in either direction, so that a client that does not read holds no memory. */
  readonly silence: number;
  /** How often the first two are checked. */
  readonly checkInterval: number;
  /** How long requests in flight may take after `close()`. */
  readonly close: number;
}

const defaultLimits: ConnectionLimits = {
  headers: 10_000,
  request: 30_000,
  keepAlive: 10_000,
  silence: 120_000,
  checkInterval: 1000,
  close: 10_000,
};

const headerBytes = 16 * 1024;

/** An API that listens. */
export interface RunningApi {
  /** Address of the API without a trailing slash. */
  readonly url: string;
  /** Takes no new connection, finishes the requests in flight, and cuts what takes too long. Can be called again. */
  close(): Promise<void>;
}

/** Listens for requests to the application. Rejects where the address cannot be had. */
export async function startApi(app: Koa<ApiState>, options: ListenOptions): Promise<RunningApi> {
  const limits = { ...defaultLimits, ...options.limits };
  const settings = {
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: limits.keepAlive,
    connectionsCheckingInterval: limits.checkInterval,
    maxHeaderSize: headerBytes,
    // Node would answer a missing Host without a body; the application refuses it with one.
    requireHostHeader: false,
  };
  const { tls } = options;
  const server = tls
    ? createTlsServer({
        ...settings,
        ...tls.material.context,
        minVersion: oldestTls,
        requestCert: tls.material.requiresClientCertificate,
        rejectUnauthorized: tls.material.requiresClientCertificate,
        handshakeTimeout: limits.headers,
      })
    : createServer(settings);
  // Node would drop all headers after a number of them without a word; their bytes are bounded anyway.
  server.maxHeadersCount = 0;
  // A client may end its side when it has sent its request. Node's types do not know that a server can be told so.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(limits.silence);
  const connections = openConnections(server);
  const inFlight = serveRequests(server, app, options.log);
  await listen(server, options.host, options.port);
  const stopWatching = tls?.watch(({ context, validTo }) => {
    if (!("setSecureContext" in server)) return;
    server.setSecureContext({ ...context, minVersion: oldestTls });
    options.log.info({ validTo }, "TLS certificate renewed");
  });
  const closeServer = closeOnce(server, inFlight, connections, limits.close);
  const close = () => {
    stopWatching?.();
    return closeServer();
  };
  return { url: urlOf(server.address() as AddressInfo, tls ? "https" : "http"), close };
}

/** Every connection, also one that has not finished its TLS handshake, which Node's HTTP server does not know. */
function openConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  return connections;
}

/** Connects the application to the server and keeps account of the answers that are not finished. */
function serveRequests(server: Server, app: Koa<ApiState>, log: Logger): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>();
  const current = new WeakMap<Socket, ServerResponse>();
  const owed = new WeakSet<Socket>();
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  const handle = app.callback();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    inFlight.add(response);
    // A stream has more who wait for its end than Node takes for usual, which it would warn of for each.
    response.setMaxListeners(20);
    current.set(request.socket, response);
    const ofSocket = unanswered.get(request.socket) ?? closedWith(request.socket);
    unanswered.set(request.socket, ofSocket.add(response));
    response.once("close", () => {
      inFlight.delete(response);
      ofSocket.delete(response);
    });
    if (!server.listening) response.setHeader("connection", "close");
    void handle(request, response);
  };
  server.on("request", serve);
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1); Node would answer 417 without a body.
  server.on("checkExpectation", serve);
  const refuse = (error: ConnectionError, socket: Socket) => {
    const response = current.get(socket);
    if (!response || response.writableFinished) answerConnection(beforeAnyBody(error), socket, log);
    else if (response.headersSent && !response.req.complete) hangUp(socket);
    else if (!response.req.complete) answerConnection(error, socket, log);
    // What is broken comes after a request that was received in full: its answer, perhaps a 202, goes first.
    else if (!owed.has(socket)) response.once("finish", () => answerConnection(error, socket, log));
    owed.add(socket);
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // What fails in the handshake cannot be told in HTTP.
    if (socket instanceof TLSSocket && !isOfHttp(error)) {
      log.debug({ reason: error.code }, "TLS connection refused");
      socket.destroy();
    } else refuse(error, socket as Socket);
  });
  server.on("connect", (_request, socket) => refuse({}, socket as Socket));
  return inFlight;
}

/**
 * Responses that are closed with their connection. Node closes only the one whose turn it is: those of requests that
 * came after it in one piece would be kept for ever by all who wait for their end.
 */
function closedWith(socket: Socket): Set<ServerResponse> {
  const responses = new Set<ServerResponse>();
  socket.once("close", () => {
    for (const response of responses)
      if (response.socket === null) {
        response.destroy();
        response.emit("close");
      }
  });
  return responses;
}

/** Whether Node's HTTP parser or server found it, rather than TLS. */
function isOfHttp({ code }: NodeJS.ErrnoException): boolean {
  return code !== undefined && /^(HPE_|ERR_HTTP_)/.test(code);
}

/** What ends early in front of a body is no request at all. */
function beforeAnyBody(error: ConnectionError): ConnectionError {
  return error.code === endedEarly ? {} : error;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closeOnce(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  connections: ReadonlySet<Socket>,
  milliseconds: number,
): () => Promise<void> {
  const close = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        server.closeAllConnections();
        for (const connection of connections) connection.destroy();
      }, milliseconds);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      // A kept connection would hold the server open after its answer.
      for (const response of inFlight) if (!response.headersSent) response.setHeader("connection", "close");
    });
  let closing: Promise<void> | undefined;
  return () => (closing ??= close());
}

/** The address of a listener as the start of a URL. */
export function urlOf({ address, family, port }: AddressInfo, scheme: "http" | "https" = "http"): string {
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** A failure that Node's HTTP parser or server reports of a connection, by its `code`. */
interface ConnectionError {
  readonly code?: string | undefined;
}

/** The parser's code for a client that has ended its side in the middle of a request. */
const endedEarly = "HPE_INVALID_EOF_STATE";

/** How long a refused client may take to read its answer and hang up, in milliseconds. */
const lingerMilliseconds = 2000;

const malformed: Problem = {
  code: "MALFORMED_HTTP",
  message: "The request is not well-formed HTTP/1.1.",
  remediation: "Check the client, and every proxy between it and the service.",
};

const problems: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: {
    code: "HEADERS_TOO_LARGE",
    message: "The request line and headers are longer than 16 KiB.",
    remediation: "Send fewer or shorter headers.",
  },
  [endedEarly]: {
    code: "BODY_INCOMPLETE",
    message: "The body ended before all of it had arrived.",
    remediation: "Send as many bytes as Content-Length says, or all chunks.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: "REQUEST_TIMEOUT",
    message: "The request did not arrive in time.",
    remediation: "Send the whole request without pauses.",
  },
};

/**
 * Answers a connection whose request never reached the application with the specification's Error (Spec 7), then
 * closes it. Nothing may be on its way on that connection.
 */
function answerConnection(error: ConnectionError, socket: Socket, log: Logger): void {
  if (!socket.writable) return;
  if (error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const problem = problems[error.code ?? ""] ?? malformed;
  const { status, headers, bytes } = errorMessage(badRequest(problem), requestId, socket);
  const head = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Bad Request\r\n${head.join("")}\r\n`), bytes]));
  hangUp(socket);
  log.info({ requestId, status, errorCode: problem.code, reason: error.code }, "connection refused");
}

/** Closes a connection after what has been written, and leaves the client time to read that. */
function hangUp(socket: Socket): void {
  if (!socket.writable) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once("close", () => clearTimeout(timer));
}

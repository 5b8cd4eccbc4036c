import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { badRequest, type Problem } from "../upgrades/service-error";
import { errorMessage } from "./error-message";

/** A failure that Node's HTTP parser or server reports of a connection, by its `code`. */
export interface ConnectionError {
  readonly code?: string | undefined;
}

/** The parser's code for a client that has ended its side in the middle of a request. */
export const endedEarly = "HPE_INVALID_EOF_STATE";

/** How long a refused client may take to read its answer and hang up, in milliseconds. */
const lingerMilliseconds = 2000;

const malformed: Problem = {
  code: "MALFORMED_HTTP",
  message: "The request is not well-formed HTTP/1.1.",
  remediation: "Check the client, and whatever stands between it and the service.",
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
export function answerConnection(error: ConnectionError, socket: Socket, log: Logger): void {
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
export function hangUp(socket: Socket): void {
  if (!socket.writable) return;
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMilliseconds).unref();
  socket.once("close", () => clearTimeout(timer));
}

import type { Socket } from "node:net";
import { ErrorBody } from "../domain/error-body";
import type { ServiceError } from "../upgrades/service-error";
import { errorResponse, type ErrorResponse } from "./error-response";
import { securityHeaders } from "./middleware/security-headers";

/** An HTTP message with the specification's Error (Spec 7), for where there is no Koa context to write it to. */
export interface ErrorMessage extends Pick<ErrorResponse, "status" | "body"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export function errorMessage(error: ServiceError, requestId: string, socket: Socket): ErrorMessage {
  const { status, body } = errorResponse(error, { requestId, access: "OPEN" });
  const bytes = Buffer.from(JSON.stringify(ErrorBody.encode(body)));
  const headers = {
    ...securityHeaders(socket),
    "content-type": "application/json",
    "content-length": String(bytes.length),
    "x-request-id": requestId,
  };
  return { status, body, headers, bytes };
}

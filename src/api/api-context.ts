import type Koa from "koa";
import type { Role } from "../authentication/authentication";
import type { UpgradeReasons } from "../domain/spec/maintenance-override";
import type { Access } from "./api-error";
import type { ErrorResponse } from "./error-response";

/** What is known of a request while it is handled; the request log is written from it. */
export interface ApiState {
  /** Also the `x-request-id` header and the `referenceToken` of an error. */
  requestId: string;
  /** Undefined where the request target is no URL: Koa throws then when it is asked for the path. */
  path: string | undefined;
  /** The path of the route that was found, with its parameters in braces. */
  route?: string;
  /** OPEN until a route has been found. */
  access: Access;
  caller?: string;
  /** The role of the credentials, where they have one. */
  role?: Role;
  /** For how many milliseconds the credentials are good from when they were checked; absent: without an end. */
  credentialMilliseconds?: number;
  /** The operation of the route that was found. */
  action?: string;
  /** From where the request comes. */
  address: string;
  taskId?: string;
  /** Of the upgrade that the answer is about. */
  reasons?: UpgradeReasons;
  /** Set where the answer goes on until the connection closes. */
  streams?: boolean;
  /** The error that was answered, if one was; of a stream the last one that it told. */
  failure?: ErrorResponse;
}

export type ApiContext = Koa.ParameterizedContext<ApiState>;
export type ApiMiddleware = Koa.Middleware<ApiState>;

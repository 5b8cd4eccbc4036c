import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { decodeStrictly } from "../config/decode-strictly";
import { invalidArgument } from "./vapi-error";

/** A request body by its codec, or a 400 that names every wrong or unknown field. */
export function decodeBody<A>(codec: t.Decoder<unknown, A>, body: unknown): A {
  const decoded = decodeStrictly(codec, body);
  if (E.isLeft(decoded)) throw invalidArgument(decoded.left);
  return decoded.right;
}

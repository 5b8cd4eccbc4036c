import { createHash } from "node:crypto";

const made = new WeakMap<Buffer, string>();

/**
 * The entity tag of an answer's bytes (RFC 9110, 8.8.3): the same for the same bytes, in every API process. Weak,
 * because it is that of all encodings of them.
 */
export function entityTag(bytes: Buffer): string {
  const before = made.get(bytes);
  if (before !== undefined) return before;
  const tag = `W/"${createHash("sha256").update(bytes).digest("base64url")}"`;
  made.set(bytes, tag);
  return tag;
}

/** Whether a client says by its `If-None-Match` that it has the answer with this tag (RFC 9110, 13.1.2). */
export function isHeldAlready(ifNoneMatch: string, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((held) => held.trim() === "*" || opaque(held) === opaque(tag));
}

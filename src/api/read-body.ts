import type { IncomingMessage } from "node:http";

/** Why the bytes of a body cannot be had. */
export type BodyFailure = "TOO_LARGE" | "TOO_SLOW" | "INCOMPLETE";

/** Where the first bytes go; it grows with the body. */
const firstBytes = 16 * 1024;

/**
 * Reads a request's body of at most so many bytes, all of it within so many milliseconds; rejects with a
 * {@link BodyFailure} and leaves the rest unread. What it holds does not depend on the pieces that the body comes in: a
 * client that sends each byte in a chunk of its own would otherwise make hundreds of bytes of each. raw-body keeps every
 * piece (41 MiB for 400,000 bytes that come one by one) and knows no time limit.
 */
export function readBody(
  request: IncomingMessage,
  { bytes: limit, milliseconds }: { readonly bytes: number; readonly milliseconds: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let held = Buffer.allocUnsafe(0);
    let length = 0;
    const stop = () => {
      clearTimeout(timer);
      request.off("data", take).off("end", finish).off("error", lost).off("close", lost);
    };
    const fail = (failure: BodyFailure) => {
      stop();
      request.pause();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is told apart, never thrown on
      reject(failure);
    };
    const take = (piece: Buffer) => {
      if (length + piece.length > limit) return fail("TOO_LARGE");
      if (length + piece.length > held.length) {
        const grown = Buffer.allocUnsafe(Math.min(limit, Math.max(firstBytes, 2 * held.length, length + piece.length)));
        held.copy(grown, 0, 0, length);
        held = grown;
      }
      length += piece.copy(held, length);
    };
    const finish = () => {
      stop();
      resolve(held.subarray(0, length));
    };
    const lost = () => fail("INCOMPLETE");
    const timer = setTimeout(() => fail("TOO_SLOW"), milliseconds);
    if (Number(request.headers["content-length"] ?? 0) > limit) return fail("TOO_LARGE");
    if (request.destroyed) return lost();
    request.on("data", take).on("end", finish).on("error", lost).on("close", lost);
  });
}

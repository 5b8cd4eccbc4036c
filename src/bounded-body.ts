/** An answer from outside was longer than it, or all of them together, may be; the message says whose, and the bound. */
export class AnswerTooLargeError extends Error {
  override readonly name = "AnswerTooLargeError";
  readonly code = "ANSWER_TOO_LARGE";

  /** `problem` completes "The answer of vc-01 …". */
  constructor(whose: string, problem: string) {
    super(`The answer of ${whose} ${problem}, and was not read completely`);
  }
}

const mebibyte = 1024 * 1024;

/** The longest answers that are read, in bytes. Those of managers list up to 2,500 hosts; an issuer has a few keys. */
export const answerBounds = { manager: 64 * mebibyte, issuer: mebibyte } as const;

/**
 * How many bytes this process holds at most of answers that are being read: 64 calls to each interface of each manager may
 * bring the longest answer at once. Short answers are read all the same, so that long ones of one manager refuse no other's.
 */
const together = { bytes: 256 * mebibyte, short: mebibyte };

/** Of answers that are being read. */
let heldBytes = 0;

/** Whose answer is read, such as `vc-01` or a URL without credentials, and how many bytes it may have. */
export interface AnswerBound {
  readonly whose: string;
  readonly bytes: number;
}

/**
 * The text of a body, by whichever client it comes: the bytes that are counted are those after decompression. Throws
 * {@link AnswerTooLargeError} as soon as there are too many, of this answer or of all that are being read, and lets go of the
 * connection then: an answer that waited for others would hold its connection and its bytes. How long it may take is bounded
 * by the signal of the request.
 */
export async function readBoundedText(
  body: AsyncIterable<Uint8Array> | null,
  { whose, bytes }: AnswerBound,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    // Leaving the loop early destroys the stream.
    for await (const chunk of body ?? []) {
      length += chunk.length;
      heldBytes += chunk.length;
      if (length > bytes) throw new AnswerTooLargeError(whose, `is longer than ${bytes / mebibyte} MiB`);
      if (heldBytes > together.bytes && length > together.short)
        throw new AnswerTooLargeError(whose, `came with others of more than ${together.bytes / mebibyte} MiB in all`);
      chunks.push(chunk);
    }
    return new TextDecoder().decode(Buffer.concat(chunks));
  } finally {
    heldBytes -= length;
  }
}

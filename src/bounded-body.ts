/** An answer from outside was longer than it may be; the message says whose, and the bound. */
export class AnswerTooLargeError extends Error {
  override readonly name = "AnswerTooLargeError";
  readonly code = "ANSWER_TOO_LARGE";

  constructor(whose: string, bytes: number) {
    super(`The answer of ${whose} is longer than ${bytes / mebibyte} MiB, and was not read to its end`);
  }
}

const mebibyte = 1024 * 1024;

/** The longest answers that are read, in bytes. Those of managers list up to 2,500 hosts; an issuer has a few keys. */
export const answerBounds = { manager: 64 * mebibyte, issuer: mebibyte } as const;

/** Whose answer is read, such as `vc-01` or a URL without credentials, and how many bytes it may have. */
export interface AnswerBound {
  readonly whose: string;
  readonly bytes: number;
}

/**
 * The text of a body, by whichever client it comes: the bytes that are counted are those after decompression. Throws
 * {@link AnswerTooLargeError} as soon as there are too many, and lets go of the connection then. How long it may take is
 * bounded by the signal of the request.
 */
export async function readBoundedText(
  body: AsyncIterable<Uint8Array> | null,
  { whose, bytes }: AnswerBound,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early destroys the stream.
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > bytes) throw new AnswerTooLargeError(whose, bytes);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

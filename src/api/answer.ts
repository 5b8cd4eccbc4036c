import type { Readable } from "node:stream";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import type { ApiState } from "./api-context";

/** How a value becomes the bytes of an answer. `codec` describes JSON to readers of the OpenAPI document. */
export interface Representation<A> {
  /** Undefined of an answer without content. */
  readonly contentType: string | undefined;
  readonly codec?: t.Mixed;
  /** Left where the value is not what the codec declares: such an answer must not leave. */
  toBytes(value: A): E.Either<Error, Buffer>;
  /** The same bytes as they are shorter, best first, for clients that say that they take them. */
  readonly shorter?: (value: A) => readonly Shorter[];
}

/** Bytes in a content coding (RFC 9110, 8.4.1). */
export interface Shorter {
  readonly encoding: "br" | "gzip";
  readonly bytes: Buffer;
}

/** How a value becomes an answer that goes on for as long as there is something to tell. */
export interface StreamRepresentation<A> {
  readonly contentType: string;
  readonly codec?: undefined;
  /** The stream lets go of the value when it is destroyed. */
  toStream(value: A, state: ApiState): Readable;
}

/**
 * JSON by a codec: unknown fields are dropped, and a value that the codec does not recognise is refused. A value that
 * many requests share (readers of one list at the same time) is made into bytes once, so it must not change.
 */
export function json<A extends object>(codec: t.Type<A, unknown, unknown>): Representation<A> {
  const made = new WeakMap<A, Buffer>();
  return {
    contentType: "application/json",
    codec,
    toBytes: (value) => {
      const before = made.get(value);
      if (before) return E.right(before);
      if (!codec.is(value)) return E.left(new Error(`An answer is not a valid ${codec.name}`));
      const bytes = Buffer.from(JSON.stringify(codec.encode(value)));
      made.set(value, bytes);
      return E.right(bytes);
    },
  };
}

/** One text as a JSON string. */
export function jsonText(codec: t.Type<string, unknown, unknown>): Representation<string> {
  return {
    contentType: "application/json",
    codec,
    toBytes: (value) =>
      codec.is(value)
        ? E.right(Buffer.from(JSON.stringify(value)))
        : E.left(new Error(`An answer is not ${codec.name}`)),
  };
}

/** No content (204). */
export const nothing: Representation<void> = { contentType: undefined, toBytes: () => E.right(Buffer.alloc(0)) };

/** Bytes as they are: the files of a page. */
export function bytes(contentType: string): Representation<Buffer> {
  return { contentType, toBytes: E.right };
}

/** The answer of a route to a request that succeeds. */
export interface Success<A> {
  readonly status: number;
  readonly description: string;
  readonly representation: Representation<A> | StreamRepresentation<A>;
  /** Further headers by name. */
  readonly headers?: Readonly<Record<string, AnswerHeader<A>>>;
  /** With an entity tag: a client that says that it has the same answer already gets 304 and no content. */
  readonly isConditional?: true;
  /** The Task that the answer is about, for the log. */
  readonly taskId?: (value: A) => string;
}

interface AnswerHeader<A> {
  readonly description: string;
  /** Undefined where the answer has none. */
  readonly of: (value: A) => string | undefined;
}

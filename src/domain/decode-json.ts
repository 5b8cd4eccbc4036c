import * as E from "fp-ts/Either";
import * as J from "fp-ts/Json";
import type * as t from "io-ts";

/** The value that a JSON text holds, by a codec. Left where it is no JSON, or holds something else. */
export function decodeJson<A>(codec: t.Decoder<unknown, A>, text: string): E.Either<unknown, A> {
  const json = J.parse(text);
  return E.isRight(json) ? codec.decode(json.right) : json;
}

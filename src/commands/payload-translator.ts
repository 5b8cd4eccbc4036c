import type { PayloadCodec } from "@temporalio/common";
import * as TE from "fp-ts/TaskEither";
import type { PayloadTranslator } from "../api/codec-routes";
import { readError } from "../temporal/temporal-error";

/** The codec of payloads as the API offers it to Temporal's Web UI and CLI. */
export function payloadTranslator(codec: PayloadCodec): PayloadTranslator {
  return {
    encode: (payloads) => TE.tryCatch(() => codec.encode([...payloads]), readError),
    decode: (payloads) => TE.tryCatch(() => codec.decode([...payloads]), readError),
  };
}

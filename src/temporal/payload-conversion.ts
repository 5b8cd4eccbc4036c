import type { DataConverter } from "@temporalio/common";
import { PayloadEncryption, type PayloadKey } from "./payload-encryption";

/**
 * How a client or worker reads and writes payloads. With keys the messages of failures, which name hosts, are made
 * payloads too, by the module `failureConverter`. Without keys what is encrypted cannot be read, and says so.
 */
export function payloadConversion(keys: readonly PayloadKey[], failureConverter: string): DataConverter {
  return {
    payloadCodecs: [new PayloadEncryption(keys)],
    ...(keys.length > 0 && { failureConverterPath: failureConverter }),
  };
}

import type { Client } from "@temporalio/client";
import { defaultPayloadConverter } from "@temporalio/common";

/** A client of Temporal of which these parts are there, without deadlines and payload codecs. */
export function fakeClient(parts: Readonly<Record<string, unknown>>): Client {
  const common = {
    options: {
      namespace: "default",
      loadedDataConverter: { payloadCodecs: [], payloadConverter: defaultPayloadConverter },
    },
    withDeadline: <A>(_deadline: number | Date, call: () => Promise<A>) => call(),
  };
  return Object.assign(Object.create(null) as Client, common, parts);
}

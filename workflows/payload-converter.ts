import { DefaultPayloadConverter } from "@temporalio/common";

/** Stands for a payload that could not be read: no codec accepts it, unlike an absent payload. */
const unreadable: unknown = Object.freeze({ requestId: null, unreadable: true });

/**
 * Reads what nobody can read as a value that every codec refuses. An error here would fail the Workflow Task that
 * delivers the Signal, again and again, and so block the upgrade for good.
 */
class TolerantPayloadConverter extends DefaultPayloadConverter {
  override fromPayload<T>(...payload: Parameters<DefaultPayloadConverter["fromPayload"]>): T {
    try {
      const value: unknown = super.fromPayload(...payload);
      // Bytes are objects to a codec whose fields are all optional, and would pass for an empty request.
      return (ArrayBuffer.isView(value) ? unreadable : value) as T;
    } catch {
      return unreadable as T;
    }
  }
}

export const payloadConverter = new TolerantPayloadConverter();

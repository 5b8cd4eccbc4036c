import { DefaultFailureConverter } from "@temporalio/common";

/**
 * Moves messages and stack traces of failures into a payload, because only payloads are encrypted. Part of the bundle
 * that workers load where PAYLOAD_KEYS_FILE is set; a worker without it reads such failures as well.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });

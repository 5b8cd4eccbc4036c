import { createRequire } from "node:module";
import { temporal } from "@temporalio/proto";
import type { HistoryJson } from "./history-json";

export type History = temporal.api.history.v1.IHistory;

/** The part of `protobufjs/ext/protojson` that is used here. */
interface ProtoJson {
  fromJson(type: unknown, json: unknown, options: { ignoreUnknownFields: boolean }): History;
}

/**
 * A worker reads such JSON by itself, but only where npm has installed one copy of protobufjs: it knows a message type
 * by its class, and gets the types from another package. So this takes the copy of the package that makes the types.
 */
const protoJson = createRequire(require.resolve("@temporalio/proto"))("protobufjs/ext/protojson") as ProtoJson;

/** The history as workers take it. Throws where the JSON is no history. */
export function historyFromJson(json: HistoryJson): History {
  return protoJson.fromJson(temporal.api.history.v1.History, json, { ignoreUnknownFields: true });
}

import { Client, Connection } from "@temporalio/client";
import type { ClientConnectConfig } from "@temporalio/envconfig";
import { NativeConnection } from "@temporalio/worker";

/** Where Temporal is; the connection options hold the address, and keys and certificates if any. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly connection: ClientConnectConfig["connectionOptions"];
}

/**
 * The largest answer that is taken, in bytes: the memos of a list may hold far more than the 4 MB that gRPC allows by
 * itself. The client library sets a bound of its own too, under a name that the gRPC library does not know.
 */
const channelArgs = { "grpc.max_receive_message_length": 128 * 1024 * 1024 };

/** A client that connects with its first call, so that a service can start before Temporal does. */
export function lazyClient({ connection, namespace }: TemporalTarget): Client {
  return new Client({ connection: Connection.lazy({ ...connection, channelArgs }), namespace });
}

/** A worker's connection; tries again until `giveUpAfter` milliseconds have passed, then rejects with the last error. */
export async function connectWorker({ connection }: TemporalTarget, giveUpAfter: number): Promise<NativeConnection> {
  const began = Date.now();
  for (;;) {
    try {
      return await NativeConnection.connect(connection);
    } catch (error) {
      if (Date.now() - began >= giveUpAfter) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

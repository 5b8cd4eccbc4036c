import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { InterceptingCall, type Interceptor, status } from "@grpc/grpc-js";
import {
  Client,
  type ClientInterceptors,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import type { ClientConnectConfig } from "@temporalio/envconfig";

/** Where Temporal is; the connection options hold the address, and keys and certificates if any. */
export interface TemporalTarget {
  readonly address: string;
  readonly namespace: string;
  readonly connection: ClientConnectConfig["connectionOptions"];
}

const channelArgs = {
  /**
   * The largest answer that is taken, in bytes: the memos of a list may hold far more than the 4 MB that gRPC allows by
   * itself. The client library sets a bound of its own too, under a name that the gRPC library does not know.
   */
  "grpc.max_receive_message_length": 128 * 1024 * 1024,
  /**
   * How many bytes of answers may be on their way, of one call and of all together: with the 64 KB of HTTP/2 itself a Task
   * of many clusters takes a round trip for each of them.
   */
  "grpc-node.flow_control_window": 4 * 1024 * 1024,
  /**
   * A connection whose other end has gone without a word is given up after 15 + 5 s; the library's 45 s would keep the
   * API away from Temporal as long. The server allows a ping every 10 s.
   */
  "grpc.keepalive_time_ms": 15_000,
  "grpc.keepalive_timeout_ms": 5_000,
  /** Longest pause between two attempts to connect; by default two minutes, for which nobody would wait. */
  "grpc.max_reconnect_backoff_ms": 5_000,
  /**
   * Shortest pause between two look-ups of the server's name; by default 30 s, which a server that has moved to another
   * address, or whose name was unknown while it was away, would be missed for.
   */
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  /** The server has no settings for its clients in DNS, and where a DNS is silent the question takes long. */
  "grpc.service_config_disable_resolution": 1,
};

/** How long a connection over TCP may take to be made, in milliseconds. */
const longestConnect = 5_000;
let connectsAreBounded: (() => void) | undefined;

/** Who watches a client; nobody by default. */
export interface ClientObservers {
  readonly onCall?: OnTemporalCall;
  /** Such as those that pass a trace on. */
  readonly interceptors?: ClientInterceptors;
}

/** A client that connects with its first call, so that a service can start before Temporal does. */
export function lazyClient(
  { connection, namespace }: TemporalTarget,
  dataConverter: DataConverter,
  observers: ClientObservers = {},
): Client {
  connectsAreBounded ??= boundConnects(longestConnect);
  const { onCall, interceptors } = observers;
  const repeating = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());
  return new Client({
    connection: Connection.lazy({
      ...connection,
      channelArgs,
      ...(onCall && { interceptors: [observedCalls(onCall), repeating] }),
    }),
    namespace,
    dataConverter,
    ...(interceptors && { interceptors }),
  });
}

/**
 * Ends every attempt of this process to connect that takes longer than so many milliseconds, until the function that it
 * gives is called. The gRPC library waits as long as the system does, which asks an address where nobody answers ever more
 * seldom: for a minute and more after a server is back.
 */
export function boundConnects(milliseconds: number): () => void {
  const bound = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket };
    const late = () => socket.destroy(new Error(`no connection within ${milliseconds} ms`));
    const timer = setTimeout(late, milliseconds).unref();
    for (const event of ["connect", "close"] as const) socket.once(event, () => clearTimeout(timer));
  };
  subscribe("net.client.socket", bound);
  return () => void unsubscribe("net.client.socket", bound);
}

/** Told of each call when it has ended: the method's name, the status in words such as `OK`, and the seconds it took. */
type OnTemporalCall = (operation: string, result: string, seconds: number) => void;

/** Watches the gRPC calls of a client, one by one; to be put around the interceptor that repeats them. */
function observedCalls(onCall: OnTemporalCall): Interceptor {
  return (options, nextCall) => {
    const operation = options.method_definition.path.split("/").at(-1) ?? "";
    const began = performance.now();
    return new InterceptingCall(nextCall(options), {
      start: (metadata, _listener, next) =>
        next(metadata, {
          onReceiveStatus: (ended, pass) => {
            onCall(operation, status[ended.code], (performance.now() - began) / 1000);
            pass(ended);
          },
        }),
    });
  };
}

import { type Interceptor, InterceptingCall, status } from "@grpc/grpc-js";

/** Told of each call when it has ended: the method's name, the status in words such as `OK`, and the seconds it took. */
export type OnTemporalCall = (operation: string, result: string, seconds: number) => void;

/** Watches the gRPC calls of a client, one by one; to be put around the interceptor that repeats them. */
export function observedCalls(onCall: OnTemporalCall): Interceptor {
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

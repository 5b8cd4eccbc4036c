import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

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

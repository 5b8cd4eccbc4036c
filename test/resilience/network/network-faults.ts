import { setTimeout as pauseFor } from "node:timers/promises";
import type { Proxy, Toxic } from "./toxiproxy";

/** A fault of the network. */
export interface NetworkFault {
  readonly name: string;
  /** How long it lasts. */
  readonly seconds: number;
  /** Nothing gets through for all of that time. */
  readonly total: boolean;
  /** Only asked for by NETWORK_CELLS=long. */
  readonly long?: true;
  /** Lets it come over a proxy; resolves when its time is over, or ends at once when aborted. */
  readonly strike: (proxy: Proxy, random: () => number, seconds: number) => Promise<void>;
}

type Draw = (random: () => number) => readonly Toxic[];

const both = (toxic: Omit<Toxic, "stream">): Draw => {
  return () => (["upstream", "downstream"] as const).map((stream) => ({ ...toxic, stream }));
};
const oneWay = (stream: Toxic["stream"], toxic: Omit<Toxic, "stream">): Draw => {
  return () => [{ ...toxic, stream }];
};

function toxics(name: string, seconds: number, draw: Draw, more: Partial<NetworkFault> = {}): NetworkFault {
  const strike: NetworkFault["strike"] = async (proxy, random, time) => {
    for (const toxic of draw(random)) await proxy.add(toxic);
    await pauseFor(time * 1000);
  };
  return { name, seconds, total: false, strike, ...more };
}

const blackHole = both({ type: "timeout", attributes: { timeout: 0 } });
const latency = (milliseconds: number) =>
  oneWay("downstream", { type: "latency", attributes: { latency: milliseconds, jitter: milliseconds / 2 } });
const reset = (timeout: number) => oneWay("downstream", { type: "reset_peer", attributes: { timeout } });
const total = { total: true } as const;

/** Long enough that the shortest limits of the suite (5 s for a heartbeat and an answer, 2 s for a call) all strike. */
const past = 11;

export const networkFaults: readonly NetworkFault[] = [
  toxics("latency of 1 s", 8, latency(1_000)),
  toxics("latency of 5 s", past, latency(5_000)),
  toxics("a black hole", past, blackHole, total),
  // What is open stays open on both sides, and one of them talks to nobody.
  toxics("requests lost", past, oneWay("upstream", { type: "timeout", attributes: { timeout: 0 } }), total),
  toxics("answers lost", past, oneWay("downstream", { type: "timeout", attributes: { timeout: 0 } }), total),
  toxics("resets", 6, reset(0), total),
  toxics("resets after 500 ms", 6, reset(500)),
  toxics("single bytes", 8, oneWay("downstream", { type: "slicer", attributes: { average_size: 1, delay: 20 } })),
  toxics("10 KB/s", 8, oneWay("downstream", { type: "bandwidth", attributes: { rate: 10 } })),
  // What the request has done is done; that is what nobody hears of.
  toxics("answers cut off", 8, (random) => {
    const bytes = 200 + Math.floor(random() * 6_000);
    return [{ type: "limit_data", stream: "downstream", attributes: { bytes } }];
  }),
  toxics("resets of a fifth", 8, (random) => reset(0)(random).map((toxic) => ({ ...toxic, toxicity: 0.2 }))),
  {
    name: "flapping",
    seconds: 10,
    total: false,
    strike: async (proxy, _random, seconds) => {
      for (let second = 0; second < seconds; second++) {
        await proxy.enable(second % 2 === 1);
        await pauseFor(1_000);
      }
    },
  },
  toxics("a black hole of 90 s", 90, blackHole, { ...total, long: true }),
  toxics("a black hole of 10 min", 600, blackHole, { ...total, long: true }),
];

import type { ProbedFault } from "./api-probes";
import { networkFaults, type NetworkFault } from "./network-faults";
import type { followers } from "./followers";
import type { kindsOfUpgrade } from "./kinds-of-upgrade";
import type { NetworkLane } from "./network-lane";

/** Two parts of the service, or one and its neighbour, with a proxy between them. */
export interface Pair {
  readonly name: string;
  /** The proxy; `temporalToPostgresql` is one for all lanes. */
  readonly link: keyof NetworkLane["proxies"] | "temporalToPostgresql";
  readonly upgrade: keyof typeof kindsOfUpgrade;
  /** Whether the fault comes before the upgrade is begun; else in the middle of it. */
  readonly first?: true;
  /** What clients of the API see where the fault lasts. */
  readonly unreachable?: Pick<ProbedFault, "code" | "longestPost">;
  /** Who follows the upgrade through the proxy. */
  readonly follower?: keyof typeof followers;
  /** Faults that every run of the suite has. */
  readonly inEveryRun: readonly string[];
}

const pairs: readonly Pair[] = [
  {
    name: "API and Temporal",
    link: "apiToTemporal",
    upgrade: "image",
    // One call (4 s) that is not answered.
    unreachable: { code: "TEMPORAL_UNREACHABLE", longestPost: 5_000 },
    inEveryRun: ["a black hole", "answers lost", "latency of 5 s", "answers cut off", "flapping"],
  },
  {
    name: "worker and Temporal",
    link: "workerToTemporal",
    upgrade: "image",
    inEveryRun: ["a black hole", "requests lost", "resets", "latency of 1 s", "resets of a fifth"],
  },
  {
    name: "worker and component manager (REST)",
    link: "workerToManager",
    upgrade: "image",
    inEveryRun: ["a black hole", "answers lost", "resets after 500 ms", "answers cut off", "flapping"],
  },
  {
    name: "worker and component manager (SOAP)",
    link: "workerToManager",
    upgrade: "baseline",
    inEveryRun: ["requests lost", "answers cut off", "single bytes"],
  },
  {
    name: "worker and NETVIRT manager",
    link: "workerToManager",
    upgrade: "netvirt",
    inEveryRun: ["a black hole", "answers cut off"],
  },
  {
    name: "worker and management server",
    link: "workerToManager",
    upgrade: "mgmt",
    inEveryRun: ["resets", "answers cut off"],
  },
  {
    name: "API and component manager",
    link: "apiToManager",
    upgrade: "image",
    // All that is asked of it (5 s).
    unreachable: { code: "COMPONENT_MANAGER_UNREACHABLE", longestPost: 8_000 },
    inEveryRun: ["a black hole", "latency of 5 s"],
  },
  {
    name: "API and upgradectl watch",
    link: "clientToApi",
    upgrade: "image",
    follower: "upgradectl",
    inEveryRun: ["flapping", "a black hole", "single bytes"],
  },
  {
    name: "API and browser",
    link: "clientToApi",
    upgrade: "image",
    follower: "browser",
    inEveryRun: ["flapping", "requests lost", "answers cut off"],
  },
  {
    name: "worker and receiver of notifications",
    link: "workerToReceiver",
    upgrade: "image",
    first: true,
    inEveryRun: ["a black hole", "answers cut off", "10 KB/s"],
  },
  {
    name: "Temporal and PostgreSQL",
    link: "temporalToPostgresql",
    upgrade: "image",
    // Temporal itself may answer the first call of a POST still, from what it has in memory.
    unreachable: { code: "TEMPORAL_UNREACHABLE", longestPost: 9_000 },
    inEveryRun: ["a black hole", "resets", "latency of 1 s"],
  },
];

/** Whom only these outlive: faults that are minutes long are for those whose limits are. */
const longFor = new Set<Pair["link"]>(["apiToTemporal", "workerToTemporal", "workerToManager", "temporalToPostgresql"]);

export interface Cell {
  readonly name: string;
  readonly pair: Pair;
  readonly fault: NetworkFault;
}

/**
 * The cells that are asked for: `all`, `long`, names of cells or of pairs with commas between, or by default those that
 * every run has.
 */
export function cellsOf(asked: string | undefined): readonly Cell[] {
  const all = pairs.flatMap((pair) =>
    networkFaults.flatMap((fault) => {
      const name = `${pair.name}: ${fault.name}`;
      return fault.long && !longFor.has(pair.link) ? [] : [{ name, pair, fault }];
    }),
  );
  const names = asked?.split(",") ?? [];
  const chosen = all.filter(({ name, pair, fault }) => {
    if (asked === undefined) return pair.inEveryRun.includes(fault.name);
    if (asked === "long") return fault.long;
    return asked === "all" ? !fault.long : names.includes(name) || (names.includes(pair.name) && !fault.long);
  });
  if (chosen.length === 0) throw new Error(`NETWORK_CELLS=${asked}: there is no such cell`);
  return chosen;
}

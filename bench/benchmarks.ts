import type { Benchmark } from "./benchmark";
import { drafts } from "./benchmarks/drafts";
import { lists } from "./benchmarks/lists";
import { manyHosts } from "./benchmarks/many-hosts";
import { largeOrchestration, smallOrchestration } from "./benchmarks/orchestration";
import { readers } from "./benchmarks/readers";
import { restart } from "./benchmarks/restart";
import { saturatedReads } from "./benchmarks/saturated-reads";
import { startTime } from "./benchmarks/start-time";
import { starts } from "./benchmarks/starts";
import { taskAtDistance, taskOfManyClusters, taskOfOneCluster } from "./benchmarks/task-reads";

/** All benchmarks, in their order. */
export const benchmarks: readonly Benchmark[] = [
  startTime,
  starts,
  smallOrchestration,
  largeOrchestration,
  taskOfOneCluster,
  taskOfManyClusters,
  taskAtDistance,
  readers,
  saturatedReads,
  lists,
  drafts,
  manyHosts,
  restart,
];

import type { Experiment } from "./experiment";
import { commit } from "./figures/commit";
import { drafts } from "./figures/drafts";
import { lists } from "./figures/lists";
import { manyHosts } from "./figures/many-hosts";
import { orchestration } from "./figures/orchestration";
import { manyReaders, taskAtDistance, taskOfManyClusters, taskOfOneCluster } from "./figures/reads";
import { restart } from "./figures/restart";
import { smallUpgrades } from "./figures/small-upgrades";
import { startTime } from "./figures/start-time";
import { starts } from "./figures/starts";

/** All parts of the benchmark, in their order. */
export const experiments: readonly Experiment[] = [
  startTime,
  starts,
  orchestration,
  smallUpgrades,
  commit,
  taskOfOneCluster,
  taskOfManyClusters,
  taskAtDistance,
  manyReaders,
  lists,
  drafts,
  manyHosts,
  restart,
];

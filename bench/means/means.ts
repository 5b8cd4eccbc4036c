import type { Experiment } from "../experiment";
import { commit } from "../figures/commit";
import { drafts } from "../figures/drafts";
import { manyHosts } from "../figures/many-hosts";
import { orchestration } from "../figures/orchestration";
import { manyReaders, taskAtDistance, taskOfManyClusters } from "../figures/reads";
import { smallUpgrades } from "../figures/small-upgrades";
import { startTime } from "../figures/start-time";
import { starts } from "../figures/starts";

/** A place in the sources, which is there once, and what stands there in a service without the means. */
export interface Edit {
  /** From the folder of package.json. */
  readonly file: string;
  readonly text: string;
  readonly instead: string;
}

/** Something that makes the service faster or smaller, and that it could be built without. */
export interface Means {
  /** As `--without` takes it. */
  readonly name: string;
  /** What the service does without it, as the end of a figure's name. */
  readonly without: string;
  readonly experiment: Experiment;
  /** Ids of the figures of that experiment which show what it brings. */
  readonly shownBy: readonly string[];
  readonly edits: readonly Edit[];
  /** Another means that both services which are compared are without: with it too little is left to show this one. */
  readonly besides?: string;
}

/** What the service is fast by, as far as a service without it would do the same work (docs/performance.md). */
export const allMeans: readonly Means[] = [
  {
    name: "prebuilt-bundle",
    without: "where each worker bundles the Workflows",
    experiment: startTime,
    shownBy: ["start"],
    // Without the interceptors, so that it could run no upgrade as it should; none is run for this figure.
    edits: [
      {
        file: "src/temporal/worker.ts",
        text: "workflowBundle: { codePath: workflowBundle },",
        instead: 'workflowsPath: require.resolve("../../../workflows/index.ts"),',
      },
    ],
  },
  {
    name: "shared-inventory-reads",
    without: "where each POST asks the component manager",
    experiment: starts,
    shownBy: ["post-throughput", "post-processor"],
    edits: [
      {
        file: "src/commands/shared-reads.ts",
        text: "ofClusters.share(id, () => clusters(id))",
        instead: "clusters(id)",
      },
      {
        file: "src/commands/shared-reads.ts",
        text: "ofKinds.share(key(id, cluster), () => isImageManaged(id, cluster))",
        instead: "isImageManaged(id, cluster)",
      },
      {
        file: "src/commands/shared-reads.ts",
        text: "ofCounts.share(key(id, cluster), () => countHosts(id, cluster))",
        instead: "countHosts(id, cluster)",
      },
    ],
  },
  {
    name: "hosts-in-turn",
    without: "with an Activity for each host",
    experiment: orchestration,
    shownBy: ["orchestration", "events-per-host"],
    edits: [
      {
        file: "workflows/upgrade-hosts.ts",
        text: "return this.state.savesTasks && oneByOne ? groups.slice(0, this.told).flat() : [];",
        instead: "return [];",
      },
    ],
  },
  {
    name: "memos-at-tenths",
    without: "with a memo for each host; both with an Activity for each host",
    besides: "hosts-in-turn",
    experiment: orchestration,
    shownBy: ["history-per-host"],
    edits: [
      {
        file: "workflows/cluster-upgrade-state.ts",
        text: "if (!mayWait) this.keep(tenth, isNews);",
        instead: "this.keep(tenth, true);",
      },
    ],
  },
  {
    name: "recent-reads",
    without: "where each host is begun with new answers",
    experiment: orchestration,
    shownBy: ["manager-calls-per-host"],
    edits: [{ file: "activities/activity-limits.ts", text: "recent: 1_000 }", instead: "recent: 0 }" }],
  },
  {
    name: "kept-connections",
    without: "with a connection for each call to a component manager",
    experiment: orchestration,
    shownBy: ["orchestration", "service-processor-per-host"],
    edits: [
      {
        file: "activities/drivers/http-connection.ts",
        text: "keepAliveTimeout: keptFor, ",
        instead: "pipelining: 0, ",
      },
    ],
  },
  {
    name: "domain-loaded-once",
    without: "where each Workflow loads the domain",
    experiment: starts,
    shownBy: ["draft-processor"],
    edits: [{ file: "scripts/bundle-workflows.mjs", text: "    preloadModules,\n", instead: "" }],
  },
  {
    name: "locks-together",
    without: "where locks are taken one after another",
    experiment: smallUpgrades,
    shownBy: ["small-upgrade"],
    edits: [
      {
        file: "workflows/resource-locks.ts",
        text: 'if (resources.length > 1) state.actsTogether ||= patched("locks-together");',
        instead: "",
      },
    ],
  },
  {
    name: "told-at-intervals",
    without: "where a cluster tells its upgrade of its hosts at once, and not only by its result",
    experiment: smallUpgrades,
    shownBy: ["small-upgrade"],
    edits: [
      {
        file: "workflows/cluster-upgrade-state.ts",
        text: "const untilToldAgain = 5_000;",
        instead: "const untilToldAgain = 0;",
      },
    ],
  },
  {
    name: "prepared-together",
    without: "where policy, image and the look at health are steps of their own",
    experiment: commit,
    shownBy: ["commit-to-remediation"],
    edits: [
      {
        file: "workflows/cluster-upgrade-workflow.ts",
        text: 'state.preparesTogether = patched("prepared-together");',
        instead: "state.preparesTogether = false;",
      },
    ],
  },
  {
    name: "local-activities",
    without: "with an Activity for each short step",
    experiment: commit,
    shownBy: ["commit-to-remediation"],
    edits: [{ file: "workflows/local-first.ts", text: "if (isOn) {", instead: "if (false) {" }],
  },
  {
    name: "answers-kept",
    without: "where each read of a Task asks all of its Workflows",
    experiment: taskOfManyClusters,
    shownBy: ["task-100-clusters"],
    edits: [
      {
        file: "src/temporal/last-answers.ts",
        text: "if (!known || known.version === undefined || known.version !== version) return undefined;",
        instead: "return undefined;",
      },
    ],
  },
  {
    name: "wide-window",
    without: "with 64 KB of answers on their way",
    experiment: taskAtDistance,
    shownBy: ["task-at-a-distance"],
    edits: [
      {
        file: "src/temporal/connection.ts",
        text: '"grpc-node.flow_control_window": 4 * 1024 * 1024,',
        instead: "",
      },
    ],
  },
  {
    name: "shared-task-reads",
    without: "where readers of a Task share nothing",
    experiment: manyReaders,
    shownBy: ["readers-p99"],
    edits: [
      {
        file: "src/temporal/task-reader.ts",
        text: "return this.reads.share(id, () => this.compose(id));",
        instead: "return this.compose(id);",
      },
    ],
  },
  {
    name: "few-workflows-kept",
    without: "where the worker keeps up to 10,000 Workflows",
    experiment: drafts,
    shownBy: ["drafts-memory"],
    edits: [
      {
        file: "src/temporal/worker.ts",
        text: "maxCachedWorkflows: cachedWorkflows,",
        instead: "maxCachedWorkflows: 10_000,",
      },
    ],
  },
  {
    name: "collected-when-idle",
    without: "where what a burst has left stays until V8 collects it",
    experiment: drafts,
    shownBy: ["drafts-memory"],
    edits: [
      { file: "src/commands/collect-when-idle.ts", text: "worthIt = 32 * 2 ** 20", instead: "worthIt = Infinity" },
    ],
  },
  {
    name: "gathered-polls",
    without: "with a call for each look at a remediation",
    experiment: manyHosts,
    shownBy: ["many-hosts-requests"],
    edits: [
      {
        file: "activities/drivers/vlcm/gathered-calls.ts",
        text: "return (key) => loader.load(key);",
        instead:
          "return async (key) => { const [answer] = await askAll([key]); if (answer instanceof Error) throw answer; return answer; };",
      },
    ],
  },
];

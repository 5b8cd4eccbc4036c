/**
 * Who may import whom. Each rule's comment says why; docs/decisions has the reasons of the layout.
 *
 * @type {import("dependency-cruiser").IConfiguration}
 */
const outside = "^node_modules/";
/** Matches the files of the named packages, scoped or not. */
const packages = (...names) => `^node_modules/(${names.join("|")})/`;

const runtime = { dependencyTypesNot: ["type-only"] };

/** `from` may import, of what is not Node's, only what matches. */
const only = (name, comment, from, ...allowed) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { pathNot: allowed, dependencyTypesNot: ["core", "type-only"] },
});

const never = (name, comment, from, to) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { path: to },
});

const noNode = (name, comment, from) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { dependencyTypes: ["core"] },
});

module.exports = {
  forbidden: [
    {
      name: "no-cycle",
      comment: "Modules that need each other can be neither understood nor tested alone.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "resolvable",
      comment: "An import that finds nothing fails only when it is reached.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-development-package-in-the-service",
      comment: "The image of the service is installed without development packages.",
      severity: "error",
      // What the console needs is in its bundle.
      from: { path: "^(src|workflows|activities)/", pathNot: "^src/console/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"] },
    },
    only(
      "domain-is-pure",
      "The domain is the same in Workflows, in the API and in tests, so it can depend on nothing that acts.",
      "^src/domain/",
      "^src/domain/",
      packages("io-ts", "fp-ts"),
    ),
    noNode("domain-without-node", "The domain runs in the Workflow sandbox, where Node is not.", "^src/domain/"),
    only(
      "workflows-are-deterministic",
      "A Workflow is replayed: only the SDK, the pure domain and its own files give the same answer again.",
      "^workflows/",
      "^workflows/",
      "^src/domain/",
      "^activities/contract\\.ts$",
      packages("@temporalio/workflow", "@temporalio/common", "io-ts", "fp-ts"),
    ),
    {
      name: "activities-in-workflows-are-types",
      comment: "At run time a Workflow knows Activities by name only; their code would come into its sandbox.",
      severity: "error",
      from: { path: "^workflows/" },
      to: { path: "^activities/", pathNot: "^activities/contract\\.ts$" },
    },
    {
      name: "workflows-reach-no-node",
      comment: "Determinism is lost through any chain of imports, not only the first link.",
      severity: "error",
      from: { path: "^workflows/" },
      to: {
        path: "^(node:)?(fs|path|os|crypto|http|https|net|child_process|timers|worker_threads|process|perf_hooks)(/|$)",
        reachable: true,
      },
    },
    {
      name: "workflows-reach-no-other-package",
      comment: "The bundle holds all that a Workflow can reach; each package in it must be known to be deterministic.",
      severity: "error",
      from: { path: "^workflows/" },
      to: {
        path: outside,
        pathNot: packages("@temporalio/workflow", "@temporalio/common", "io-ts", "fp-ts"),
        reachable: true,
      },
    },
    only(
      "activities-know-the-outside-world-only",
      "Activities speak to component managers; how upgrades are accepted and shown is not theirs.",
      "^activities/",
      "^activities/",
      "^src/domain/",
      "^src/(xml|bounded-body|clock)\\.ts$",
      packages(
        "@temporalio/activity",
        "@temporalio/client",
        "@temporalio/common",
        "io-ts",
        "fp-ts",
        "undici",
        "p-limit",
        "dataloader",
        "cloudevents",
        "standardwebhooks",
        "nodemailer",
      ),
    ),
    only(
      "use-cases-know-ports-only",
      "Use cases decide; Koa, Temporal and files are behind their ports.",
      "^src/upgrades/",
      "^src/(upgrades|domain)/",
      packages("io-ts", "fp-ts"),
    ),
    noNode(
      "use-cases-without-node",
      "Time, ids and digests come through the ports, so that tests decide them.",
      "^src/upgrades/",
    ),
    never(
      "api-knows-use-cases-only",
      "The HTTP interface must not depend on how upgrades are run, where clusters are listed, or how callers prove who they are.",
      "^src/api/",
      "^(src/(authentication/(?!(authentication|client-address)\\.ts)|temporal|catalog|inventory|simulator|commands|main|config)|workflows/|activities/|node_modules/@temporalio/)",
    ),
    {
      name: "authentication-serves-the-api",
      comment: "It answers who a caller is; what upgrades are and how HTTP is spoken is not its business.",
      severity: "error",
      from: { path: "^src/authentication/" },
      to: {
        path: "^(src|workflows|activities)/",
        pathNot: [
          "^src/authentication/",
          "^src/(domain/codec|bounded-body)\\.ts$",
          "^src/upgrades/service-error\\.ts$",
        ],
      },
    },
    never(
      "temporal-adapter-knows-no-api",
      "The adapter serves ports; it must not know who asks.",
      "^src/temporal/",
      "^src/(api|catalog|inventory|simulator|commands|main|config)|^activities/(?!contract\\.ts$)",
    ),
    {
      name: "temporal-adapter-names-workflows-by-type",
      comment: "Workflow functions outside the sandbox are types: their code must run nowhere else.",
      severity: "error",
      from: { path: "^src/temporal/" },
      to: { path: "^workflows/", pathNot: "^workflows/(messages|search-attributes)\\.ts$", ...runtime },
    },
    {
      name: "catalog-and-inventory-stand-alone",
      comment: "Both are files today and services tomorrow; nothing but their port may show.",
      severity: "error",
      from: { path: "^src/(catalog|inventory)/" },
      to: {
        path: "^(src|workflows|activities)/",
        pathNot: ["^src/$1/", "^src/(domain/|loopback\\.ts$)", "^src/upgrades/(ports|service-error)\\.ts$"],
      },
    },
    {
      name: "simulator-stands-alone",
      comment:
        "A simulator that shares code with the drivers would agree with their mistakes; codecs, XML and loopback names know nothing of either.",
      severity: "error",
      from: { path: "^src/simulator/" },
      to: {
        path: "^(src|workflows|activities)/",
        pathNot: ["^src/simulator/", "^src/(domain/codec|xml|loopback)\\.ts$"],
      },
    },
    only(
      "console-is-a-client",
      "The console runs in browsers: it shares the models of the domain and asks everything else of the API.",
      "^src/console/",
      "^src/(console|domain)/",
      packages(
        "preact",
        "@preact/signals",
        "@tanstack/virtual-core",
        "eventsource-parser",
        "jose",
        "oauth4webapi",
        "io-ts",
        "fp-ts",
      ),
    ),
    noNode("console-without-node", "Browsers have no Node.", "^src/console/"),
    never(
      "console-serves-nobody",
      "The service only hands out the built files of the console.",
      "^(src/(?!console/)|workflows/|activities/)",
      "^src/console/",
    ),
    only(
      "command-line-knows-the-interface-only",
      "upgradectl is a client: it knows the service by its HTTP interface and the models in it.",
      "^src/cli/",
      "^src/(cli|domain)/",
      packages(
        "io-ts",
        "fp-ts",
        "commander",
        "@bomb.sh/tab",
        "@clack/prompts",
        "eventsource-parser",
        "ansi-escapes",
        "string-width",
        "picocolors",
        "yaml",
        "luxon",
      ),
    ),
    never(
      "command-line-is-for-people",
      "Nothing of the service may need what draws in a terminal.",
      "^(src/(?!cli/)|workflows/|activities/)",
      "^src/cli/",
    ),
    {
      name: "composition-roots-are-for-main",
      comment: "What puts everything together is imported by nothing but the entry.",
      severity: "error",
      from: { path: "^(src|workflows|activities)/", pathNot: "^src/(main\\.ts|commands/)" },
      to: { path: "^src/(commands/|main\\.ts)" },
    },
    {
      name: "no-tests-in-the-service",
      comment: "Test code must not be needed to run.",
      severity: "error",
      from: { path: "^(src|workflows|activities)/" },
      to: { path: "^test/" },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: "specify",
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|test/unit/types/errors|test/interop/third-party/client-generators)/" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
    skipAnalysisNotInRules: true,
  },
};

// `npm test [-- SUITE]`: prepares this checkout, runs every suite, each in a process of its own, and adds them up. Suites
// wait for much of their time, so lanes of them run beside each other; their lines are shown one suite after the other.
// The last line is `N passed, N failed, N skipped`.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { OrderedOutput } from "./ordered-output.mjs";
import { prepare } from "./prepare.mjs";
import { root, runScript } from "./run.mjs";
import { addTotals, totalsLine } from "./totals.mjs";

/** What `npm test` runs, in parallel lanes that take about the same time. */
const ownLanes = [["unit", "types", "replay", "contract", "npm-start"], ["workflow"], ["system"]];
const suites = ownLanes.flat();
/** Further lanes, for suites that are asked for by name; any other suite goes into the first lane. */
const lanes = [...ownLanes, ["production", "crash", "network"], ["deploys", "third-party", "fuzz"]];
/** Run by name only: these need more than a checkout has (a Chromium; tmux; Go and Python, for what others wrote; root). */
const extraSuites = [
  ...["deploys", "fuzz", "browser", "terminal", "third-party", "production", "crash", "network", "walk", "overload"],
  ...["stress", "containers", "limits"],
];
/** These run the service as a cluster does: on PostgreSQL and a Temporal server of its own; the walk where it is asked to. */
const onPostgresql = [
  "production",
  "crash",
  "network",
  ...(process.env["DEPLOYMENT"] === "production" ? ["walk"] : []),
];
/** The system tests that also run on PostgreSQL, because they depend on the Temporal server. */
const onProductionToo = ["encryption", "idempotency", "platform", "races", "steering"];
/** Where the tests of `npm start` itself are. */
const npmStart = join("test", "system", "npm-start");
/** Longest run of one suite. */
const suiteMilliseconds = 30 * 60_000;
/** How long a suite's process may take to end after its last test; more means that something was left open. */
const endMilliseconds = 20_000;

const require = createRequire(import.meta.url);

await runScript(async (signal) => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((suite) => ![...suites, ...extraSuites].includes(suite));
  if (unknown !== undefined) {
    console.error(`There is no suite ${unknown}. Suites: ${[...suites, ...extraSuites].join(", ")}.`);
    return 2;
  }
  const needsTestServer =
    wanted.length === 0 ||
    wanted.some((suite) => !["third-party", "walk", "stress", "containers", ...onPostgresql].includes(suite));
  const tools = await prepare({
    signal,
    temporalCli: true,
    timeSkippingServer: needsTestServer,
    thirdParty: wanted.includes("third-party"),
    production: wanted.some((suite) => suite === "containers" || onPostgresql.includes(suite)),
    containers: wanted.includes("containers"),
    network: wanted.includes("network"),
  });
  const folder = mkdtempSync(join(tmpdir(), "totals-"));
  try {
    const chosen = wanted.length > 0 ? wanted : suites;
    const lane = (suite) => lanes.findIndex((suites) => suites.includes(suite));
    const chosenLanes = lanes.map((_, i) => chosen.filter((suite) => Math.max(0, lane(suite)) === i));
    const output = new OrderedOutput(chosenLanes.flat());
    const totals = await Promise.all(chosenLanes.map((lane) => runLane(lane, { folder, output, signal, tools })));
    const sum = addTotals(totals.flat());
    console.log(`\n${totalsLine(sum)}`);
    return signal.aborted || sum.failed > 0 || sum.passed === 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Runs suites one after another. */
async function runLane(lane, { folder, output, signal, tools }) {
  const totals = [];
  for (const suite of lane) {
    if (signal.aborted) break;
    const print = (text) => output.print(suite, text);
    totals.push(
      await runSuite(suite, { totalsFile: join(folder, suite), env: environment(suite, tools), signal, print }),
    );
    output.end(suite);
  }
  return totals;
}

/** Settings that an operator has made for the service must not change what the tests see. */
function environment(
  suite,
  { temporalCli, timeSkippingServer, vcsim, vendorClients, schemathesis, kubernetesTools, ...production },
) {
  const { configurationVariables } = require("../dist/src/configuration-variables.js");
  const own = new Set(configurationVariables.map(({ name }) => name).filter((name) => name !== "XDG_CACHE_HOME"));
  const rest = Object.entries(process.env).filter(([name]) => !own.has(name) && !name.startsWith("TEMPORAL_"));
  return {
    ...Object.fromEntries(rest),
    ...(temporalCli && { TEMPORAL_CLI_PATH: temporalCli }),
    ...(timeSkippingServer && { TEMPORAL_TEST_SERVER: timeSkippingServer }),
    ...(vcsim && { VCSIM_PATH: vcsim }),
    ...(vendorClients && { VENDOR_CLIENTS: vendorClients }),
    ...(schemathesis && { SCHEMATHESIS: schemathesis }),
    ...(kubernetesTools && { KUBERNETES_TOOLS: kubernetesTools }),
    ...(suite === "containers" && {
      DOCKER_COMPOSE: production.dockerCompose,
      DEBIAN_BASE: production.debianBase,
      NODE_PROGRAM: production.nodeProgram,
      TEMPORAL_UI: production.temporalUi,
    }),
    ...(onPostgresql.includes(suite) && { DEPLOYMENT: "production" }),
    ...((suite === "containers" || onPostgresql.includes(suite)) && {
      POSTGRESQL: production.postgresql,
      POSTGRESQL_CLIENTS: production.postgresqlClients,
      TEMPORAL_SERVER: production.temporalServer,
    }),
    ...(suite === "network" && { TOXIPROXY: production.toxiproxy }),
  };
}

/** Runs one suite; a process that gives no totals, or does not end, is a failure of its own. */
async function runSuite(suite, { totalsFile, env, signal, print }) {
  const files = testFiles(suite);
  if (files.length === 0) return failure(`The suite ${suite} has no tests.`, print);
  const hooks = onPostgresql.includes(suite) ? ["--require", join("test", "production", "temporal-cluster.ts")] : [];
  const args = [require.resolve("mocha/bin/mocha.js"), "--reporter-option", `totals=${totalsFile}`, ...hooks, ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", print);
  const closed = new Promise((resolve) => child.once("close", resolve));
  const endAll = () => killGroup(child.pid);
  signal.addEventListener("abort", endAll);
  const began = Date.now();
  let ended = 0;
  let problem;
  const watch = setInterval(() => {
    if (existsSync(totalsFile)) ended ||= Date.now();
    if (ended && Date.now() - ended > endMilliseconds)
      problem = `The suite ${suite} leaves something open: its process does not end.`;
    else if (Date.now() - began > suiteMilliseconds) problem = `The suite ${suite} takes too long.`;
    if (problem) endAll();
  }, 500);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  clearInterval(watch);
  signal.removeEventListener("abort", endAll);
  endAll();
  // What it has printed; a process that it left behind may hold its output open.
  await Promise.race([closed, setTimeout(1000)]);
  const totals = existsSync(totalsFile) ? JSON.parse(readFileSync(totalsFile, "utf8")) : undefined;
  if (totals && !problem && (code === 0) === (totals.failed === 0)) return totals;
  return addTotals([
    totals,
    failure(problem ?? `The suite ${suite} ended with ${code} before it was complete.`, print),
  ]);
}

/** The system tests of `npm start` itself are a suite of their own. The production suite runs some of the others too. */
function testFiles(suite) {
  if (suite === "npm-start") return filesOf(npmStart);
  const system = filesOf(join("test", "system")).filter((name) => !name.startsWith(npmStart));
  if (suite === "system") return system;
  const inProduction = onProductionToo.map((name) => join("test", "system", `${name}.test.ts`));
  return [...filesOf(join("test", suite)), ...(suite === "production" ? inProduction : [])];
}

function filesOf(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name))
    .sort();
}

function failure(message, print) {
  print(`  FAIL  ${message}\n`);
  return { passed: 0, failed: 1, skipped: 0 };
}

function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left of it.
  }
}

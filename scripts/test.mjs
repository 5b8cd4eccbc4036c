// `npm test [-- SUITE …]`: prepares this checkout, runs the suites (scripts/suites.mjs), each in a process of its own, and
// adds them up. Lanes of suites run beside each other; their lines are shown one suite after the other.
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
import { filesOfSuite, lanesOf, suiteNames, suitesNamed } from "./suites.mjs";
import { addTotals, totalsLine } from "./totals.mjs";

/** Longest run of one suite. */
const suiteMilliseconds = 30 * 60_000;
/** How long a suite's process may take to end after its last test; more means that something was left open. */
const endMilliseconds = 20_000;

const require = createRequire(import.meta.url);

await runScript(async (signal) => {
  const { chosen, unknown } = suitesNamed(process.argv.slice(2));
  if (unknown !== undefined) {
    console.error(`There is no suite ${unknown}. Suites: ${suiteNames.join(", ")}.`);
    return 2;
  }
  const need = (tool) => chosen.some(({ needs }) => needs.includes(tool));
  const tools = await prepare({
    signal,
    temporalCli: true,
    timeSkippingServer: need("timeSkippingServer"),
    thirdParty: need("thirdParty"),
    production: need("production"),
    containers: need("containers"),
    network: need("network"),
  });
  const folder = mkdtempSync(join(tmpdir(), "totals-"));
  try {
    const lanes = lanesOf(chosen);
    const output = new OrderedOutput(lanes.flat().map(({ name }) => name));
    const totals = await Promise.all(lanes.map((lane) => runLane(lane, { folder, output, signal, tools })));
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
    const print = (text) => output.print(suite.name, text);
    const totalsFile = join(folder, suite.name.replaceAll("/", "-"));
    totals.push(await runSuite(suite, { totalsFile, env: environment(suite, tools), signal, print }));
    output.end(suite.name);
  }
  return totals;
}

/** Settings that an operator has made for the service must not change what the tests see. */
function environment(
  { needs, onPostgresql },
  {
    temporalCli,
    timeSkippingServer,
    vcsim,
    vendorClients,
    schemathesis,
    clientGenerators,
    kubernetesTools,
    monitoring,
    ...production
  },
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
    ...(clientGenerators && { CLIENT_GENERATORS: clientGenerators }),
    ...(kubernetesTools && { KUBERNETES_TOOLS: kubernetesTools }),
    ...(monitoring && { PROMETHEUS: monitoring.prometheus, ALERTMANAGER: monitoring.alertmanager }),
    ...(needs.includes("containers") && {
      DOCKER_COMPOSE: production.dockerCompose,
      DEBIAN_BASE: production.debianBase,
      NODE_PROGRAM: production.nodeProgram,
      TEMPORAL_UI: production.temporalUi,
    }),
    ...(onPostgresql && { DEPLOYMENT: "production" }),
    ...(needs.includes("production") && {
      POSTGRESQL: production.postgresql,
      POSTGRESQL_CLIENTS: production.postgresqlClients,
      TEMPORAL_SERVER: production.temporalServer,
    }),
    ...(needs.includes("network") && { TOXIPROXY: production.toxiproxy }),
  };
}

/** Runs one suite; a process that gives no totals, or does not end, is a failure of its own. */
async function runSuite(suite, { totalsFile, env, signal, print }) {
  const { name, onPostgresql } = suite;
  const files = filesOfSuite(suite, testFiles()).map((file) => join("test", file));
  if (files.length === 0) return failure(`The suite ${name} has no tests.`, print);
  const hooks = onPostgresql ? ["--require", join("test", "e2e", "production", "temporal-cluster.ts")] : [];
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
      problem = `The suite ${name} leaves something open: its process does not end.`;
    else if (Date.now() - began > suiteMilliseconds) problem = `The suite ${name} takes too long.`;
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
  return addTotals([totals, failure(problem ?? `The suite ${name} ended with ${code} before it was complete.`, print)]);
}

/** By their paths below test/. */
function testFiles() {
  return readdirSync(join(root, "test"), { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => name.replaceAll("\\", "/"))
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

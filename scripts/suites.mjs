// The suites: what a folder of test/ proves, what its tests need, and beside what they run. A suite has the test files
// below its folder that no other suite's folder has.

/**
 * `lane`: suites of one lane run one after another, lanes beside each other; those without one share the first lane.
 * `more`: not part of `npm test`, because it needs more than a checkout has, or takes long; run by name, and by .ci/run.
 * `needs`: tools of scripts/prepare.mjs, beyond the Temporal CLI.
 * `onPostgresql`: on PostgreSQL and a Temporal server of its own instead of what `npm start` embeds.
 * `also`: further test files, by their paths below test/ without `.test.ts`.
 */
const suites = [
  { name: "unit", lane: 0, needs: ["timeSkippingServer"] },
  { name: "workflow/replay", lane: 0, needs: ["timeSkippingServer"] },
  { name: "interop/contract", lane: 0 },
  { name: "workflow", lane: 1, needs: ["timeSkippingServer"] },
  { name: "e2e/api", lane: 2 },
  { name: "e2e/upgrades", lane: 2 },
  { name: "e2e/upgradectl", lane: 2 },
  // Two suites of a folder that is half of the work, so that no lane is left alone with one of two processors.
  { name: "workflow/clusters", lane: 3, needs: ["timeSkippingServer"] },
  { name: "workflow/failures", lane: 3, needs: ["timeSkippingServer"] },
  { name: "e2e/operation", lane: 3 },
  { name: "e2e/console", more: true, lane: 1 },
  { name: "e2e/terminal", more: true },
  { name: "e2e/containers", more: true, lane: 2, needs: ["containers", "production"] },
  {
    name: "e2e/production",
    more: true,
    lane: 3,
    needs: ["production"],
    onPostgresql: true,
    // Those that depend on the Temporal server.
    also: [
      ...["e2e/api/idempotency", "e2e/api/races", "e2e/api/steering"],
      ...["e2e/operation/encryption", "e2e/upgrades/platform"],
    ],
  },
  { name: "resilience/crash", more: true, lane: 3, needs: ["production"], onPostgresql: true },
  { name: "resilience/network", more: true, lane: 4, needs: ["production", "network"], onPostgresql: true },
  { name: "resilience/restarts", more: true, lane: 4 },
  { name: "resilience/deploys", more: true, lane: 4, needs: ["timeSkippingServer"] },
  { name: "resilience/fuzz", more: true, lane: 4 },
  {
    name: "resilience/walk",
    more: true,
    ...(process.env["DEPLOYMENT"] === "production" && { needs: ["production"], onPostgresql: true }),
  },
  { name: "resilience/overload", more: true },
  { name: "resilience/stress", more: true },
  { name: "resilience/limits", more: true, needs: ["timeSkippingServer"] },
  { name: "interop/third-party", more: true, lane: 4, needs: ["thirdParty"] },
].map((suite) => ({ lane: 0, needs: [], also: [], more: false, onPostgresql: false, ...suite }));

export const suiteNames = suites.map(({ name }) => name);

/** Without names, what `npm test` runs; a name means the suite and those below its folder. Undefined: it means none. */
export function suitesNamed(names) {
  if (names.length === 0) return { chosen: suites.filter(({ more }) => !more) };
  const meant = (name) => suites.filter((suite) => suite.name === name || suite.name.startsWith(`${name}/`));
  const unknown = names.find((name) => meant(name).length === 0);
  return unknown === undefined ? { chosen: [...new Set(names.flatMap(meant))] } : { unknown };
}

/** Which of these test files, named by their paths below test/, are the suite's. */
export function filesOfSuite({ name, also }, files) {
  const nearest = (file) =>
    suiteNames
      .filter((folder) => file.startsWith(`${folder}/`))
      .sort()
      .at(-1);
  return files.filter((file) => nearest(file) === name || also.includes(file.replace(/\.test\.ts$/, "")));
}

/** Suites by their lanes, each in the order of the table. */
export function lanesOf(chosen) {
  const numbers = [...new Set(suites.map(({ lane }) => lane))].sort();
  const inLane = (lane) => suites.filter((suite) => suite.lane === lane && chosen.includes(suite));
  return numbers.map(inLane).filter(({ length }) => length > 0);
}

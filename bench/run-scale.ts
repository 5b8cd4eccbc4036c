import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Table from "cli-table3";
import { defaultAssumptions, scaleOf, type Assumptions, type MeasuredCosts, type Scale } from "./scale-model";

/** Written by `npm run bench -- --json bench/measured.json`. */
const measuredFile = join(__dirname, "measured.json");

const { set = [] } = parseArgs({ options: { set: { type: "string", multiple: true } } }).values;
const given = Object.fromEntries(
  set.map((assignment) => {
    const [name = "", value] = assignment.split("=");
    const number = Number(value);
    if (!(name in defaultAssumptions) || !(number > 0))
      throw new Error(
        `--set ${assignment}: one of ${Object.keys(defaultAssumptions).join(", ")}, and a number above 0`,
      );
    return [name, number];
  }),
);
const assumptions: Assumptions = { ...defaultAssumptions, ...given };
const costs = measuredCosts();

const variants: readonly (readonly [string, Assumptions])[] = [
  [`a heartbeat every ${assumptions.heartbeatSeconds} s`, assumptions],
  ["every 15 s", { ...assumptions, heartbeatSeconds: 15 }],
  ["16 hosts of a cluster at once", { ...assumptions, hostsAtOnce: 16 }],
];
const scales = variants.map(([, variant]) => scaleOf(costs, variant));
const plain = { style: { head: [], border: [] } };

const measured = new Table({ head: ["measured", ""], ...plain });
for (const [name, value] of Object.entries<number>({ ...costs })) measured.push([name, value.toPrecision(3)]);
const assumed = new Table({ head: ["assumed", ""], ...plain });
for (const [name, value] of Object.entries<number>({ ...assumptions })) assumed.push([name, written(value)]);
const result = new Table({ head: ["needed", ...variants.map(([name]) => name)], ...plain });
for (const name of Object.keys(scales[0] ?? {}) as (keyof Scale)[])
  result.push([name, ...scales.map((scale) => written(scale[name]))]);
for (const table of [measured, assumed, result]) console.log(table.toString());

function measuredCosts(): MeasuredCosts {
  const { measurements } = JSON.parse(readFileSync(measuredFile, "utf8")) as {
    measurements: { id: string; value: number }[];
  };
  const of = (id: string) => {
    const found = measurements.find((measurement) => measurement.id === id);
    if (!found) throw new Error(`${measuredFile} has no ${id}: npm run bench -- --json bench/measured.json`);
    return found.value;
  };
  // Hosts that take some time, as real ones do.
  const ofHost = (what: string) => of(`orchestration-16x64-2s-${what}`);
  const clusters = of("many-hosts-clusters");
  return {
    eventsPerHost: ofHost("events"),
    historyKilobytesPerHost: ofHost("history"),
    serviceMillisecondsPerHost: ofHost("processor-worker") + ofHost("processor-api"),
    temporalMillisecondsPerHost: ofHost("processor-temporal"),
    serviceSharePerCluster: of("many-hosts-processor") / 100 / clusters,
    temporalSharePerCluster: of("many-hosts-temporal-processor") / 100 / clusters,
  };
}

/** Three digits are more than the assumptions are good for. */
function written(number: number): string {
  if (Math.abs(number) < 100 && !Number.isInteger(number)) return number.toPrecision(2);
  return Number(number.toPrecision(3)).toLocaleString("en-US");
}

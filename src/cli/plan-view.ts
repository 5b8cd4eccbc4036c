import type { ExpectedWave, WavePart } from "../domain/expected-waves";
import type { PreviewedResource, UpgradePreview } from "../domain/upgrade-preview";
import { cut } from "./fit";
import { printable } from "./printable";
import type { Style } from "./style";
import { minute, plain, table } from "./table";

/** More waves than these are told by their number only, in the middle; and of a wave more parts than these. */
const mostWaves = 40;
const mostParts = 8;

/** A plan for people: what is done to each resource, then who is in work together. */
export function planView(plan: UpgradePreview, style: Style, columns: number | undefined): string[] {
  const rows = plan.products.flatMap(({ product, resources }) =>
    resources.map((resource) => [
      product,
      plain(resource.name),
      plain(resource.targetVersion),
      resource.scheduledTimestamp === undefined ? "at once" : minute(resource.scheduledTimestamp),
      plain(resource.hostsAtOnce),
      between(resource),
      attempts(resource),
    ]),
  );
  const draft = plan.draftMode
    ? "A draft: prechecks run, then it waits for its commit."
    : "No draft: it begins when it is due.";
  const headings = ["PRODUCT", "RESOURCE", "TO VERSION", "BEGINS", "AT ONCE", "BETWEEN HOSTS", "ATTEMPTS"];
  return [
    style.bold(printable(plan.name)),
    draft,
    "",
    ...table(headings, rows, { columns, elastic: ["RESOURCE"], optional: ["TO VERSION"] }),
    "",
    style.bold("Expected waves"),
    ...shortened(
      plan.waves.map((wave) => waveLines(wave, columns)),
      mostWaves,
      (left) => [`… ${left} more waves …`],
    ).flat(),
    ...(plan.waves.length === 0 ? ["Nothing is left to do: all hosts run the target version."] : []),
    "",
    "Nothing was started.",
  ];
}

function attempts({ maximumAttempts, retryDelay }: PreviewedResource): string {
  return maximumAttempts === 1 ? "1" : `${maximumAttempts}, ${retryDelay} s apart`;
}

/** What has to be before the next hosts of a cluster, by its rollout policy. */
function between({ soakSeconds = 0, healthGate = false, toleratedFailures = 0 }: PreviewedResource): string {
  const all = [
    ...(soakSeconds > 0 ? [`${soakSeconds} s`] : []),
    ...(healthGate ? ["healthy"] : []),
    ...(toleratedFailures > 0 ? [`${toleratedFailures} may fail`] : []),
  ];
  return all.length === 0 ? "-" : all.join(", ");
}

function waveLines({ product, wave, parts, scheduledTimestamp }: ExpectedWave, columns?: number): string[] {
  const from = scheduledTimestamp === undefined ? "" : ` from ${minute(scheduledTimestamp)}`;
  const lines = parts.map((part) => `  ${printable(partText(part))}`);
  return [`${product} ${wave}${from}`, ...shortened(lines, mostParts, (left) => `  … and ${left} more`)].map((line) =>
    columns === undefined ? line : cut(line, columns),
  );
}

function partText({ name, hosts, soakSeconds }: WavePart): string {
  const soak = soakSeconds === undefined ? "" : ` (${soakSeconds} s later)`;
  return `${name}${soak}${hosts ? `: ${hosts.join(", ")}` : ""}`;
}

/** The first and the last of many. */
function shortened<A>(all: readonly A[], most: number, instead: (left: number) => A): readonly A[] {
  if (all.length <= most) return all;
  const half = most / 2;
  return [...all.slice(0, half), instead(all.length - most), ...all.slice(-half)];
}

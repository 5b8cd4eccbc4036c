import type { UpgradePreview } from "../domain/upgrade-preview";
import type { Wave } from "./expected-waves";
import type { Style } from "./style";
import { plain, table } from "./table";
import { printable } from "./task-parts";

/** More waves than these are told by their number only, in the middle. */
const mostWaves = 40;

/** A plan for people: what is done to each resource, then who is in work together. */
export function planView(plan: UpgradePreview, waves: readonly Wave[], style: Style): string[] {
  const rows = plan.products.flatMap(({ product, resources }) =>
    resources.map((resource) => [
      product,
      plain(resource.name),
      plain(resource.targetVersion),
      resource.scheduledTimestamp ?? "at once",
      plain(resource.hostsAtOnce),
      attempts(resource.maximumAttempts, resource.retryDelay),
    ]),
  );
  const draft = plan.draftMode
    ? "A draft: prechecks run, then it waits for its commit."
    : "No draft: it begins when it is due.";
  return [
    style.bold(printable(plan.name)),
    draft,
    "",
    ...table(["PRODUCT", "RESOURCE", "TO VERSION", "BEGINS", "HOSTS AT ONCE", "ATTEMPTS"], rows),
    "",
    style.bold("Expected waves"),
    ...shortened(waves.map(waveLine)),
    ...(waves.length === 0 ? ["Nothing is left to do: all hosts run the target version."] : []),
    "",
    "Nothing was started.",
  ];
}

function attempts(maximum: number, retryDelay: number): string {
  return maximum === 1 ? "1" : `${maximum}, ${retryDelay} s apart`;
}

function waveLine({ product, wave, parts }: Wave): string {
  const texts = parts.map(({ name, hosts }) => (hosts ? `${name}: ${hosts.join(", ")}` : name));
  return printable(`${product} ${wave}  ${texts.join("; ")}`);
}

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostWaves) return lines;
  const half = mostWaves / 2;
  return [...lines.slice(0, half), `… ${lines.length - mostWaves} more waves …`, ...lines.slice(-half)];
}

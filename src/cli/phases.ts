import { distanceWords, leftWords, roughDuration } from "../domain/duration";
import { legible } from "../domain/legible";
import { PublishedPhase, type Upgrade, UpgradeStatus } from "../domain/spec/upgrade";
import { attentionGroups } from "../domain/upgrade/attention";
import { phaseWords } from "../domain/upgrade/phase-words";
import { wrongUsage } from "./errors";
import { coloured, type Style, wordOf } from "./text";

/** Where an upgrade is, in a word; of one that the service could only read in part, its status. */
export function phaseWord({ phase, status }: Pick<Upgrade, "phase" | "status">): string {
  if (phase !== undefined) return phaseWords[phase];
  return status === undefined ? "-" : wordOf(status);
}

/** The same in its colour. */
export function phaseText(style: Style, upgrade: Pick<Upgrade, "phase" | "status">): string {
  return coloured(style, upgrade.phase ?? upgrade.status ?? "-", phaseWord(upgrade));
}

/** When what an upgrade is at ends, or since when it lasts: `25 min left`, `begins in 1 d 18 h`, `ended 3 h ago`. */
export function timeText(upgrade: Upgrade, now: number): string {
  const { endTime, since } = upgrade;
  const left = timeLeft(upgrade, now);
  if (left !== undefined) return left;
  if (endTime !== undefined) return `ended ${distanceWords(endTime, now)}`;
  return since === undefined ? "-" : `for ${roughDuration(now - Date.parse(since))}`;
}

/** When it ends, begins, or has to be decided; undefined where no time is known. */
export function timeLeft({ phase, expectedEnd, until, endTime }: Upgrade, now: number): string | undefined {
  if (endTime !== undefined && phase !== "ACTION_REQUIRED") return undefined;
  if (expectedEnd !== undefined) return leftWords(Date.parse(expectedEnd) - now);
  if (until === undefined) return undefined;
  return `${phase === "ACTION_REQUIRED" ? "decide" : "begins"} ${distanceWords(Date.parse(until), now)}`;
}

const [needsYou, active, scheduled, drafts, ended] = attentionGroups.map(({ phases }) => phases);

/** What an operator looks for first, in the order of `upgradectl status`. */
export const sections = [
  { title: "Needs you", word: "needs-you", phases: needsYou ?? [] },
  { title: "In work", word: "active", phases: active ?? [] },
  { title: "Next", word: "scheduled", phases: scheduled ?? [] },
  { title: "Drafts", word: "drafts", phases: drafts ?? [] },
  { title: "Ended", word: "ended", phases: ended ?? [] },
] as const;

type Filter = { readonly phases: readonly PublishedPhase[] } | { readonly statuses: readonly UpgradeStatus[] };

/** The words that `--status` takes beside phases and the specification's statuses. */
const words: Readonly<Record<string, Filter>> = {
  ...Object.fromEntries(sections.map(({ word, phases }) => [word, { phases }])),
  draft: { phases: drafts ?? [] },
  ready: { phases: ["DRAFT_READY"] },
  succeeded: { phases: ["SUCCEEDED", "SUCCEEDED_WITH_WARNINGS"] },
  // Whatever has become of it since.
  failed: { statuses: ["COMPLETED_WITH_FAILURE"] },
};

const toWord = (name: string) => name.toLowerCase().replaceAll(/[\s_]+/g, "-");

const known: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  // A status that is written as the specification does means that, although a phase has the same name.
  ...keysOf(PublishedPhase).map((phase) => [toWord(phase), { phases: [phase] }] as const),
  ...Object.entries(words),
]);
const statuses: ReadonlySet<string> = new Set(keysOf(UpgradeStatus));

function keysOf<A extends string>({ keys }: { readonly keys: Readonly<Record<A, unknown>> }): A[] {
  return Object.keys(keys) as A[];
}

/** What completion offers for `--status`. */
export const statusWords: readonly string[] = [...known.keys(), ...statuses];

/** The query parameters for `--status`: words of people, phases, or the specification's statuses, with commas between. */
export function statusFilter(text: string): Readonly<Record<string, string>> {
  const filters = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
    .map((word): Filter => {
      if (statuses.has(word)) return { statuses: [word as UpgradeStatus] };
      const found = known.get(toWord(word));
      if (found) return found;
      throw wrongUsage(
        `--status: there is no status ${JSON.stringify(legible(word))}.`,
        `Give one or several of ${[...Object.keys(words), "running", "paused", "cancelled"].join(", ")}; completion offers all.`,
      );
    });
  const phase = filters.flatMap((one) => ("phases" in one ? one.phases : []));
  const status = filters.flatMap((one) => ("statuses" in one ? one.statuses : []));
  if (phase.length > 0 && status.length > 0)
    throw wrongUsage(
      `--status: ${status.join(", ")} cannot be combined with ${phase.map((one) => phaseWords[one]).join(", ")}.`,
      "List them separately.",
    );
  return {
    ...(phase.length > 0 && { phase: [...new Set(phase)].join(",") }),
    ...(status.length > 0 && { status: [...new Set(status)].join(",") }),
  };
}

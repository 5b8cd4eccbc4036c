import type { Upgrade } from "../../domain/spec/upgrade";
import { plural, shortList, type StatusWords, wordsOfUpgrade } from "../model/labels";
import { fragmentOf } from "../model/page-address";

interface UpgradeCardProps {
  readonly upgrade: Upgrade;
  /** Of clusters, by their ids; undefined until they are known. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** One upgrade of the list, as a link to its page. */
export function UpgradeCard({ upgrade, names }: UpgradeCardProps) {
  const { id, status, bundle, bundleId, resourceUpgradeSpecs = [] } = upgrade;
  const title = names
    ? shortList(resourceUpgradeSpecs.map(({ resourceId }) => names.get(resourceId) ?? resourceId))
    : plural(resourceUpgradeSpecs.length, "cluster");
  return (
    <li>
      <a href={fragmentOf({ page: "UPGRADE", id })}>
        <StatusBadge words={wordsOfUpgrade(status)} />
        <span class="card-title">{title}</span>
        <span class="small">to {bundle?.version ?? bundleId}</span>
        <span class="small card-time">{timeWords(upgrade)}</span>
      </a>
    </li>
  );
}

function timeWords({ endTime, status, waitingFor, resourceUpgradeSpecs }: Upgrade): string {
  const scheduled = resourceUpgradeSpecs?.[0]?.scheduledTimestamp;
  if (endTime !== undefined) return `ended ${new Date(endTime).toLocaleString()}`;
  if (waitingFor?.code === "COMMIT") return "waits for a commit";
  return status === "SCHEDULED" && scheduled !== undefined ? `begins ${new Date(scheduled).toLocaleString()}` : "";
}

/** A status as sign, word and colour. */
export function StatusBadge({ words: { tone, sign, word } }: { readonly words: StatusWords }) {
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

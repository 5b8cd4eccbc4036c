import { useMemo } from "preact/hooks";
import { PageOfBundle } from "../../domain/spec/bundle";
import { PageOfCluster } from "../../domain/spec/cluster";
import { PageOfUpgrade } from "../../domain/spec/upgrade";
import { usePolled } from "../client/ask-api";
import { session } from "../client/session";
import { plural, upgradeStatusWords } from "../model/labels";
import { fragmentOf, type ListView } from "../model/page-address";
import { ErrorNote } from "../parts/error-note";
import { Pager } from "../parts/pager";
import { UpgradeCard } from "../parts/upgrade-card";

const pageSize = 25;

/**
 * Upgrades by status, bundle and cluster, as the address says. The API has no events of lists, so the page asks again
 * every three seconds and is sent something only where it has changed.
 */
export function UpgradeList({ view }: { readonly view: ListView }) {
  const { page = 1, ...filters } = view;
  const query = new URLSearchParams({ ...filters, pageNumber: String(page - 1), pageSize: String(pageSize) });
  const upgrades = usePolled(PageOfUpgrade, `/v1/upgrades?${query.toString()}`, 3000);
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000).value?.elements ?? [];
  const { value: pageOfClusters, error: clustersError } = usePolled(PageOfCluster, "/v1/clusters", 60_000);
  const clusters = pageOfClusters?.elements;
  const isWaiting = !clusters && !clustersError;
  const names = useMemo(
    () => (isWaiting ? undefined : new Map(clusters?.map(({ id, name }) => [id, name]))),
    [clusters, isWaiting],
  );
  const { elements: shown = [], pageMetadata: { totalElements = 0, totalPages = 1 } = {} } = upgrades.value ?? {};
  const choose = (choice: Omit<ListView, "page">) => {
    const chosen = Object.entries({ ...filters, ...choice }).filter(([, value]) => value !== "");
    location.hash = fragmentOf({ page: "UPGRADES", view: Object.fromEntries(chosen) });
  };
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <div class="headline">
        <h1>Upgrades</h1>
        {session.value?.mayOperate && (
          <a class="button primary" href={fragmentOf({ page: "NEW" })}>
            New upgrade
          </a>
        )}
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Status"
          value={filters.status ?? ""}
          onChange={(status) => choose({ status })}
          options={upgradeStatusWords.map(({ status, word }) => [status, word])}
        />
        <Choice
          label="Bundle"
          value={filters.bundleId ?? ""}
          onChange={(bundleId) => choose({ bundleId })}
          options={bundles.map(({ id, version, description }) => [id, description ?? version ?? id])}
        />
        <Choice
          label="Cluster"
          value={filters.resourceId ?? ""}
          onChange={(resourceId) => choose({ resourceId })}
          options={(clusters ?? []).map(({ id, name }) => [id, name])}
        />
      </form>
      {upgrades.error && <ErrorNote error={upgrades.error} isAlert />}
      <p class="small" role="status">
        {upgrades.value ? countWords(totalElements, isFiltered) : upgrades.error ? "" : "Reading upgrades…"}
        {upgrades.value && upgrades.error && " This was so before the connection was lost."}
      </p>
      <ul class="cards">
        {shown.map((upgrade) => (
          <UpgradeCard key={upgrade.id} upgrade={upgrade} names={names} />
        ))}
      </ul>
      <Pager view={view} page={page} totalPages={totalPages} />
    </>
  );
}

function countWords(total: number, isFiltered: boolean): string {
  if (total === 0) return isFiltered ? "No upgrade is like this." : "There are no upgrades yet.";
  return `${plural(total, "upgrade")}${isFiltered ? " like this" : ""}`;
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  // The address may name what the catalog or the inventory does not list any more.
  const isListed = value === "" || options.some(([option]) => option === value);
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All</option>
        {!isListed && <option value={value}>{value}</option>}
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

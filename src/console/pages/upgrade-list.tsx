import { useEffect, useMemo, useState } from "preact/hooks";
import { PageOfBundle } from "../../domain/spec/bundle";
import { PageOfCluster } from "../../domain/spec/cluster";
import { PageOfUpgrade } from "../../domain/spec/upgrade";
import { UpgradeCounts } from "../../domain/upgrade/attention";
import { usePolled } from "../client/ask-api";
import { useReadTime } from "../client/page-hooks";
import { serverNow } from "../client/send-request";
import { session } from "../client/session";
import { plural } from "../model/labels";
import { filterParameters, phaseParameter } from "../model/list-filters";
import {
  changedView,
  fragmentOf,
  type ListTab,
  listTabs,
  type ListView,
  optionalColumns,
  pageAddressOf,
  phasesOfTab,
  type ViewChange,
} from "../model/page-address";
import { BulkOperations } from "../parts/bulk-operations";
import { ErrorNote } from "../parts/error-note";
import { ListFilters } from "../parts/list-filters";
import { Pager } from "../parts/pager";
import { UpgradeTable } from "../parts/upgrade-table";

const pageSize = 25;

const tabWords: Readonly<Record<ListTab, string>> = {
  ALL: "All",
  NEEDS_YOU: "Needs you",
  RUNNING: "Running",
  SCHEDULED: "Scheduled",
  DRAFTS: "Drafts",
  ENDED: "Ended",
};

/**
 * Upgrades as the address says: a tab, filters, an order and columns. The API has no events of lists, so the page asks
 * again every three seconds and is sent something only where it has changed.
 */
export function UpgradeList({ view }: { readonly view: ListView }) {
  const { tab = "ALL", sort, without = [], page = 1 } = view;
  // As of when the filter was chosen: a time that went on would make another list of each reading.
  const chosenAt = useMemo(serverNow, [view.created]);
  const filters = filterParameters(view, chosenAt);
  const query = new URLSearchParams({
    ...filters,
    ...phaseParameter(view),
    ...(sort && { sort }),
    pageNumber: String(page - 1),
    pageSize: String(pageSize),
  });
  const upgrades = usePolled(PageOfUpgrade, `/v1/upgrades?${query.toString()}`, 3000);
  const counts = usePolled(UpgradeCounts, `/v1/upgrades/counts?${new URLSearchParams(filters).toString()}`, 5000);
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000).value?.elements ?? [];
  const clusters = usePolled(PageOfCluster, "/v1/clusters", 60_000).value?.elements ?? [];
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
  const { elements: shown = [], pageMetadata: { totalElements = 0, totalPages = 1 } = {} } = upgrades.value ?? {};
  const isFiltered = Object.keys(filters).length > 0 || view.phase !== undefined || tab !== "ALL";
  const change = (changed: ViewChange) => {
    // The address is ahead of what is shown: of two changes in a moment neither is lost.
    const address = pageAddressOf(location.hash);
    const latest = address.page === "UPGRADES" ? (address.view ?? {}) : view;
    location.hash = fragmentOf({ page: "UPGRADES", view: changedView(latest, changed) });
  };
  const choose = (ids: readonly string[], isChosen: boolean) =>
    setChosenIds((before) => new Set([...[...before].filter((id) => !ids.includes(id)), ...(isChosen ? ids : [])]));
  const countOf = (one: ListTab) =>
    counts.value?.phases
      .filter(({ phase }) => phasesOfTab(one)?.includes(phase) ?? true)
      .reduce((sum, { upgrades: count }) => sum + count, 0);
  const creators = [...new Set([session.value?.caller, ...shown.map(({ createdBy }) => createdBy)])]
    .filter((one) => one !== undefined)
    .sort();
  const needed = countOf("NEEDS_YOU") ?? 0;
  useEffect(() => {
    document.title = needed > 0 ? `(${needed}) Upgrades` : "Upgrades";
  }, [needed]);
  const readAt = useReadTime(upgrades);
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
      <nav class="tabs" aria-label="Upgrades by what they need">
        {listTabs.map((one) => {
          const count = countOf(one);
          return (
            <a
              key={one}
              href={fragmentOf({ page: "UPGRADES", view: changedView(view, { tab: one }) })}
              class={one === "NEEDS_YOU" && needed > 0 ? "urgent" : ""}
              {...(one === tab && { "aria-current": "page" as const })}
            >
              {tabWords[one]}
              {count !== undefined && <span class="count"> {count}</span>}
            </a>
          );
        })}
      </nav>
      <ListFilters view={view} bundles={bundles} clusters={clusters} creators={creators} change={change} />
      {upgrades.error && <ErrorNote error={upgrades.error} isAlert />}
      <p class="small" role="status">
        {upgrades.value ? countWords(totalElements, isFiltered) : upgrades.error ? "" : "Reading upgrades…"}
        {upgrades.value && upgrades.error && " As of before the connection was lost."}
      </p>
      {session.value?.mayOperate && (
        <BulkOperations
          chosen={shown.filter(({ id }) => chosenIds.has(id))}
          clear={() => setChosenIds(new Set())}
          refresh={upgrades.refresh}
        />
      )}
      {shown.length > 0 && (
        <UpgradeTable
          upgrades={shown}
          columns={optionalColumns.filter((column) => !without.includes(column))}
          now={readAt}
          chosen={session.value?.mayOperate ? chosenIds : undefined}
          choose={choose}
        />
      )}
      <Pager
        to={(other) => fragmentOf({ page: "UPGRADES", view: { ...view, page: other } })}
        page={page}
        totalPages={totalPages}
      />
    </>
  );
}

function countWords(total: number, isFiltered: boolean): string {
  if (total === 0) return isFiltered ? "No upgrades match." : "There are no upgrades yet.";
  return `${plural(total, "upgrade")}${isFiltered ? " found" : ""}`;
}

import { PublishedPhase } from "../../domain/spec/upgrade";
import { attentionGroups, UpgradeSort } from "../../domain/upgrade/attention";

/** The tabs of the list, in the order in which their upgrades are listed; ALL has them all. */
export const listTabs = ["ALL", "NEEDS_YOU", "RUNNING", "SCHEDULED", "DRAFTS", "ENDED"] as const;
export type ListTab = (typeof listTabs)[number];

/** Columns that can be left out. */
export const optionalColumns = ["CLUSTERS", "HOSTS", "BEGIN", "TIME", "CREATOR", "ID"] as const;
export type OptionalColumn = (typeof optionalColumns)[number];

/** How long ago upgrades were created at most, as the address says it. */
export const ages = ["1d", "7d", "30d", "90d"] as const;
export type Age = (typeof ages)[number];

/** What the list shows. Absent: all, in the order of attention, with every column. `page` counts from 1. */
export interface ListView {
  readonly tab?: ListTab;
  readonly search?: string;
  readonly bundleId?: string;
  readonly resourceId?: string;
  readonly changeId?: string;
  /** As `name=value`, several with commas between them. */
  readonly label?: string;
  /** One of the phases of the tab. */
  readonly phase?: PublishedPhase;
  readonly createdBy?: string;
  readonly created?: Age;
  readonly sort?: UpgradeSort;
  readonly without?: readonly OptionalColumn[];
  readonly page?: number;
}

/** What the page shows; kept in the fragment of its address, so that it can be linked to and the server knows one page. */
export type PageAddress =
  | { readonly page: "UPGRADES"; readonly view?: ListView }
  | { readonly page: "UPGRADE"; readonly id: string }
  /** `like`: filled as the upgrade of this id was asked for. */
  | { readonly page: "NEW"; readonly like?: string }
  /** `number` of the page of the list, from 1. */
  | { readonly page: "READINESS"; readonly number?: number }
  | { readonly page: "CHECK"; readonly id: string }
  | { readonly page: "NEW_CHECK" };

/** The phases of a tab's upgrades; undefined means all. */
export function phasesOfTab(tab: ListTab): readonly PublishedPhase[] | undefined {
  return attentionGroups[listTabs.indexOf(tab) - 1]?.phases;
}

/** The page that a fragment such as `#/upgrades/ID` or `#/?tab=DRAFTS&page=2` means; anything else means the list. */
export function pageAddressOf(fragment: string): PageAddress {
  const [, like] = /^#\/new(?:\?like=([\w-]+))?$/.exec(fragment) ?? [fragment];
  if (fragment === "#/new" || like !== undefined) return { page: "NEW", ...(like !== undefined && { like }) };
  const id = /^#\/upgrades\/([\w-]+)$/.exec(fragment)?.[1];
  if (id !== undefined) return { page: "UPGRADE", id };
  if (fragment === "#/readiness/new") return { page: "NEW_CHECK" };
  // The id of a check by a schedule ends with its time.
  const check = /^#\/readiness\/([\w:-]+)$/.exec(fragment)?.[1];
  if (check !== undefined) return { page: "CHECK", id: check };
  const [isReadiness, query] = /^#\/readiness(?:\?(.*))?$/.exec(fragment) ?? [];
  if (isReadiness !== undefined) {
    const number = pageNumberOf(new URLSearchParams(query));
    return { page: "READINESS", ...(number !== undefined && { number }) };
  }
  const view = viewOf(new URLSearchParams(/^#\/\?(.*)$/.exec(fragment)?.[1] ?? ""));
  return { page: "UPGRADES", ...(Object.keys(view).length > 0 && { view }) };
}

/** The fragment of a page. */
export function fragmentOf(address: PageAddress): string {
  if (address.page === "NEW") return address.like === undefined ? "#/new" : `#/new?like=${address.like}`;
  if (address.page === "UPGRADE") return `#/upgrades/${address.id}`;
  if (address.page === "NEW_CHECK") return "#/readiness/new";
  if (address.page === "CHECK") return `#/readiness/${address.id}`;
  if (address.page === "READINESS")
    return (address.number ?? 1) > 1 ? `#/readiness?page=${address.number}` : "#/readiness";
  const { page = 1, without = [], ...rest } = address.view ?? {};
  const query = new URLSearchParams({
    ...rest,
    ...(without.length > 0 && { without: without.join(",") }),
    ...(page > 1 && { page: String(page) }),
  }).toString();
  return query === "" ? "#/" : `#/?${query}`;
}

/** What of a view is changed; an empty text takes a filter away. */
export type ViewChange = {
  readonly [K in Exclude<keyof ListView, "page">]?: ListView[K] | "";
};

/** The view with a change. Other upgrades are listed then, from the first page; a tab takes no phase of another one. */
export function changedView({ page: _page, ...view }: ListView, change: ViewChange): ListView {
  const { phase, ...rest } = { ...view, ...change };
  const isOfTab = phase && (phasesOfTab(rest.tab || "ALL")?.includes(phase) ?? true);
  return Object.fromEntries(
    Object.entries({ ...rest, ...(isOfTab && { phase }) }).filter(
      ([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

function viewOf(query: URLSearchParams): ListView {
  const page = pageNumberOf(query);
  const one = <A extends string>(name: string, values: readonly A[]) =>
    values.find((value) => value === query.get(name));
  const tab = one("tab", listTabs);
  const sort = query.get("sort");
  const names = (query.get("without") ?? "").split(",");
  const without = optionalColumns.filter((column) => names.includes(column));
  const created = one("created", ages);
  const phase = one("phase", phasesOfTab(tab ?? "ALL") ?? (Object.keys(PublishedPhase.keys) as PublishedPhase[]));
  const texts = ["search", "bundleId", "resourceId", "changeId", "label", "createdBy"].flatMap((name) => {
    const value = query.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return {
    ...(tab && { tab }),
    ...Object.fromEntries(texts),
    ...(phase && { phase }),
    ...(created && { created }),
    ...(UpgradeSort.is(sort) && { sort }),
    ...(without.length > 0 && { without }),
    ...(page !== undefined && { page }),
  };
}

/** Undefined of the first page. */
function pageNumberOf(query: URLSearchParams): number | undefined {
  const page = Number(query.get("page"));
  return Number.isInteger(page) && page > 1 && page < 1e6 ? page : undefined;
}

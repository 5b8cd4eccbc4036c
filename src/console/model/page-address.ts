import { attentionGroups, UpgradeSort } from "../../domain/upgrade/attention";

/** The tabs of the list, in the order in which their upgrades are listed; ALL has them all. */
export const listTabs = ["ALL", "NEEDS_YOU", "RUNNING", "SCHEDULED", "DRAFTS", "ENDED"] as const;
export type ListTab = (typeof listTabs)[number];

/** Columns that can be left out. */
export const optionalColumns = ["CLUSTERS", "HOSTS", "BEGIN", "TIME", "CREATOR", "ID"] as const;
export type OptionalColumn = (typeof optionalColumns)[number];

/** What the list shows. Absent: all, in the order of attention, with every column. `page` counts from 1. */
export interface ListView {
  readonly tab?: ListTab;
  readonly search?: string;
  readonly bundleId?: string;
  readonly resourceId?: string;
  readonly changeId?: string;
  /** As `name=value`, several with commas between them. */
  readonly label?: string;
  readonly sort?: UpgradeSort;
  readonly without?: readonly OptionalColumn[];
  readonly page?: number;
}

/** What the page shows; kept in the fragment of its address, so that it can be linked to and the server knows one page. */
export type PageAddress =
  | { readonly page: "UPGRADES"; readonly view?: ListView }
  | { readonly page: "UPGRADE"; readonly id: string }
  | { readonly page: "NEW" };

/** The phases of a tab's upgrades; undefined means all. */
export function phasesOfTab(tab: ListTab): readonly string[] | undefined {
  return attentionGroups[listTabs.indexOf(tab) - 1]?.phases;
}

/** The page that a fragment such as `#/upgrades/ID` or `#/?tab=DRAFTS&page=2` means; anything else means the list. */
export function pageAddressOf(fragment: string): PageAddress {
  if (fragment === "#/new") return { page: "NEW" };
  const id = /^#\/upgrades\/([\w-]+)$/.exec(fragment)?.[1];
  if (id !== undefined) return { page: "UPGRADE", id };
  const view = viewOf(new URLSearchParams(/^#\/\?(.*)$/.exec(fragment)?.[1] ?? ""));
  return { page: "UPGRADES", ...(Object.keys(view).length > 0 && { view }) };
}

/** The fragment of a page. */
export function fragmentOf(address: PageAddress): string {
  if (address.page === "NEW") return "#/new";
  if (address.page === "UPGRADE") return `#/upgrades/${address.id}`;
  const { page = 1, without = [], ...rest } = address.view ?? {};
  const query = new URLSearchParams({
    ...rest,
    ...(without.length > 0 && { without: without.join(",") }),
    ...(page > 1 && { page: String(page) }),
  }).toString();
  return query === "" ? "#/" : `#/?${query}`;
}

/** The view with a change; an empty text takes a filter away. Other upgrades are listed then, from the first page. */
export function changedView({ page: _page, ...view }: ListView, change: Omit<ListView, "page">): ListView {
  return Object.fromEntries(
    Object.entries({ ...view, ...change }).filter(
      ([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

function viewOf(query: URLSearchParams): ListView {
  const page = Number(query.get("page"));
  const one = <A extends string>(name: string, values: readonly A[]) =>
    values.find((value) => value === query.get(name));
  const tab = one("tab", listTabs);
  const sort = query.get("sort");
  const names = (query.get("without") ?? "").split(",");
  const without = optionalColumns.filter((column) => names.includes(column));
  const texts = ["search", "bundleId", "resourceId", "changeId", "label"].flatMap((name) => {
    const value = query.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return {
    ...(tab && { tab }),
    ...Object.fromEntries(texts),
    ...(UpgradeSort.is(sort) && { sort }),
    ...(without.length > 0 && { without }),
    ...(Number.isInteger(page) && page > 1 && page < 1e6 && { page }),
  };
}

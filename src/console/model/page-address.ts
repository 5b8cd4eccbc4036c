/** What the list shows: the values of the API's own parameters; absent is all. `page` counts from 1. */
export interface ListView {
  readonly status?: string;
  readonly bundleId?: string;
  readonly resourceId?: string;
  readonly page?: number;
}

/** What the page shows; kept in the fragment of its address, so that it can be linked to and the server knows one page. */
export type PageAddress =
  | { readonly page: "UPGRADES"; readonly view?: ListView }
  | { readonly page: "UPGRADE"; readonly id: string }
  | { readonly page: "NEW" };

/** The page that a fragment such as `#/upgrades/ID` or `#/?status=DRAFT&page=2` means; anything else means the list. */
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
  const { page = 1, ...filters } = address.view ?? {};
  const query = new URLSearchParams({ ...filters, ...(page > 1 && { page: String(page) }) }).toString();
  return query === "" ? "#/" : `#/?${query}`;
}

function viewOf(query: URLSearchParams): ListView {
  const page = Number(query.get("page"));
  const filters = ["status", "bundleId", "resourceId"].flatMap((name) => {
    const value = query.get(name) ?? "";
    return value === "" ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(filters), ...(Number.isInteger(page) && page > 1 && page < 1e6 && { page }) };
}

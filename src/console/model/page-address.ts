/** What the page shows; kept in the fragment of its address, so that it can be linked to and the server knows one page. */
export type PageAddress =
  { readonly page: "UPGRADES" } | { readonly page: "UPGRADE"; readonly id: string } | { readonly page: "NEW" };

/** The page that a fragment such as `#/upgrades/ID` means; anything else means the list. */
export function pageAddressOf(fragment: string): PageAddress {
  if (fragment === "#/new") return { page: "NEW" };
  const id = /^#\/upgrades\/([\w-]+)$/.exec(fragment)?.[1];
  return id === undefined ? { page: "UPGRADES" } : { page: "UPGRADE", id };
}

/** The fragment of a page. */
export function fragmentOf(address: PageAddress): string {
  if (address.page === "NEW") return "#/new";
  return address.page === "UPGRADE" ? `#/upgrades/${address.id}` : "#/";
}

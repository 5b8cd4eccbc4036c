import { largestPage, type PageMetadata } from "../domain/page";

/** A page as the service answers it. */
export interface PageOf<A> {
  readonly elements?: readonly A[];
  readonly pageMetadata?: PageMetadata;
}

/** What a list holds. `total` is more than there are elements where the service could not read some. */
export interface WholeList<A> {
  readonly elements: A[];
  readonly total: number;
}

/** How often a list that changes while it is read is walked at most. */
const mostWalks = 3;

/**
 * All elements of a list that comes in pages, each once. What ends meanwhile moves to another place of the list, so an
 * element may slip from a page that is still to come into one that is read already: then the list is walked again.
 * `isEnough` ends the walk before the end.
 */
export async function allPages<A extends { readonly id: string }>(
  read: (paging: { readonly pageNumber: string; readonly pageSize: string }) => Promise<PageOf<A>>,
  isEnough: (found: ReadonlyMap<string, A>) => boolean = () => false,
): Promise<WholeList<A>> {
  const found = new Map<string, A>();
  let total = 0;
  for (let walk = 0; walk < mostWalks; walk += 1) {
    let pages = 1;
    for (let page = 0; page < pages; page += 1) {
      const { elements = [], pageMetadata } = await read({ pageNumber: `${page}`, pageSize: `${largestPage}` });
      for (const element of elements) found.set(element.id, element);
      total = pageMetadata?.totalElements ?? found.size;
      pages = Math.ceil(total / largestPage);
      if (isEnough(found)) return { elements: [...found.values()], total };
    }
    // The service reads one page in an order that nothing slips through.
    if (pages <= 1 || found.size >= total) break;
  }
  return { elements: [...found.values()], total: Math.max(total, found.size) };
}

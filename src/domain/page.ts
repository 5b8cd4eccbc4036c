import type * as t from "io-ts";
import { model, WholeNumber } from "./codec";

/** Which page it is, counted from 0, of what size, and how much there is in all (Spec 2.7). */
export const PageMetadata = model(
  {},
  { pageNumber: WholeNumber, pageSize: WholeNumber, totalElements: WholeNumber, totalPages: WholeNumber },
);
export type PageMetadata = t.TypeOf<typeof PageMetadata>;

/** The most elements of a list that is not paged, and of a page (docs/spec-gaps.md, paging). */
export const largestPage = 1000;

/** `pageNumber` counts from 0. Without a page, all matches up to 1,000 (docs/spec-gaps.md, paging). */
export interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
}

/** What a list answers where no page is asked for. */
export const wholeList: PageRequest = { pageNumber: 0, pageSize: largestPage };

/** The metadata of a page of so many elements in all. */
export function metadataOf({ pageNumber, pageSize }: PageRequest, totalElements: number): PageMetadata {
  return { pageNumber, pageSize, totalElements, totalPages: Math.ceil(totalElements / pageSize) };
}

/** One page of a list that is wholly known. */
export function pageOf<A>(all: readonly A[], page: PageRequest = wholeList) {
  const first = page.pageNumber * page.pageSize;
  return { elements: all.slice(first, first + page.pageSize), pageMetadata: metadataOf(page, all.length) };
}

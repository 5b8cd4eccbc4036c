import { fragmentOf, type ListView } from "../model/page-address";

interface PagerProps {
  readonly view: ListView;
  /** Counted from 1. */
  readonly page: number;
  readonly totalPages: number;
}

/** Links to the pages before and after this one; nothing where there is one page. */
export function Pager({ view, page, totalPages }: PagerProps) {
  if (totalPages <= 1 && page === 1) return null;
  const to = (other: number) => fragmentOf({ page: "UPGRADES", view: { ...view, page: other } });
  return (
    <nav class="pager" aria-label="Pages of the list">
      {page > 1 && (
        <a class="button" href={to(Math.min(page - 1, Math.max(1, totalPages)))} rel="prev">
          Previous page
        </a>
      )}
      <span>
        Page {page} of {Math.max(1, totalPages)}
      </span>
      {page < totalPages && (
        <a class="button" href={to(page + 1)} rel="next">
          Next page
        </a>
      )}
    </nav>
  );
}

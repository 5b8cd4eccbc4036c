interface PagerProps {
  /** The address of another page of the list. */
  readonly to: (page: number) => string;
  /** Counted from 1. */
  readonly page: number;
  readonly totalPages: number;
}

/** Links to the pages before and after this one; nothing where there is one page. */
export function Pager({ to, page, totalPages }: PagerProps) {
  if (totalPages <= 1 && page === 1) return null;
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

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";

interface RowsToShow {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  readonly container: () => HTMLElement | null;
  /** Pixels at the top of the container that something covers while it is scrolled. */
  readonly covered?: number;
}

/** Keeps in the page only the rows that can be seen, and some around them. Rows may differ in height. */
export function useVirtualRows({
  count,
  keyOf,
  container,
  covered = 0,
}: RowsToShow): Virtualizer<HTMLElement, HTMLElement> {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getItemKey: keyOf,
    getScrollElement: container,
    estimateSize: () => 36,
    overscan: 12,
    scrollPaddingStart: covered,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}

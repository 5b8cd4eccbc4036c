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
}

/** Keeps in the page only the rows that can be seen, and some around them. Rows may differ in height. */
export function useVirtualRows({ count, keyOf, container }: RowsToShow): Virtualizer<HTMLElement, HTMLElement> {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getItemKey: keyOf,
    getScrollElement: container,
    estimateSize: () => 36,
    overscan: 12,
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

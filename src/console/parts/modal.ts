import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A `<dialog>` that is shown above the page for as long as it is part of it. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Closed before it is taken away, so that the browser gives the focus back to where it came from.
    return () => shown?.close();
  }, []);
  return dialog;
}

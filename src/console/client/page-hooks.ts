import { useEffect, useState } from "preact/hooks";
import { serverNow } from "./send-request";

/** Epoch milliseconds by the clock of the service, so many of them at a time. */
export function useServerTime(every: number): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/**
 * The same for what is read again and again, renewed each half minute while the service answers: whose answer is missing
 * may have gone on; the times of it then stand where they stood.
 */
export function useReadTime({ value, error }: { readonly value?: unknown; readonly error?: unknown }): number {
  const [now, setNow] = useState(serverNow);
  const isLost = error !== undefined;
  useEffect(() => {
    if (isLost) return undefined;
    setNow(serverNow());
    const timer = setInterval(() => setNow(serverNow()), 30_000);
    return () => clearInterval(timer);
  }, [value, isLost]);
  return now;
}

/** Names the tab of the browser while a page is open. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title === undefined) return undefined;
    const before = document.title;
    document.title = title;
    return () => {
      document.title = before;
    };
  }, [title]);
}

import { signal } from "@preact/signals";
import type { TimeDisplay } from "../model/local-time";

const storageKey = "upgrade-console-times";
const displays: readonly TimeDisplay[] = ["LOCAL", "UTC", "RELATIVE"];

/** How times are shown on every page; remembered by this browser. */
export const timeDisplay = signal<TimeDisplay>(storedDisplay());

/** Shows all times in another way, now and on the next visit. */
export function setTimeDisplay(display: TimeDisplay): void {
  timeDisplay.value = display;
  try {
    localStorage.setItem(storageKey, display);
  } catch {
    // A browser that keeps nothing shows it so until the page is closed.
  }
}

function storedDisplay(): TimeDisplay {
  try {
    return displays.find((one) => one === localStorage.getItem(storageKey)) ?? "LOCAL";
  } catch {
    return "LOCAL";
  }
}

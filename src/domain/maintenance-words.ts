import type { MaintenanceState } from "./spec/cluster";

/** Whether work may begin by the calendar of the inventory, for people. `time` shows a timestamp as the reader wants it. */
export function maintenanceWords(state: MaintenanceState, time: (timestamp: string) => string): string {
  const { isOpen, window, changeFreeze, opensAt, closesAt, opensAgainAt } = state;
  const named = window === undefined ? "" : `${window}: `;
  if (isOpen) {
    const again = opensAgainAt === undefined ? "" : `, again from ${time(opensAgainAt)}`;
    return `${named}open${closesAt === undefined ? "" : ` until ${time(closesAt)}`}${again}`;
  }
  const closed = changeFreeze === undefined ? "closed" : `change freeze ${changeFreeze}`;
  return `${named}${closed}${opensAt === undefined ? "" : `, opens ${time(opensAt)}`}`;
}

import type { SubTask } from "./task";

/** What stands before the description of a part of which nothing new starts. */
const sign = "Paused: what is in work goes on to its end, nothing new starts until the upgrade is resumed.";

/** The part saying, or no longer saying, that it is paused, before whatever else it says of itself. */
export function withPause(part: SubTask, paused: boolean): SubTask {
  if (saysPaused(part) === paused) return part;
  return { ...part, description: paused ? `${sign} ${part.description}` : spoken(part) };
}

/** The part with another description; that it is paused it goes on saying. */
export function describePart(part: SubTask, description: string): SubTask {
  return { ...part, description: saysPaused(part) ? `${sign} ${description}` : description };
}

/** The description of a part without the words that it is paused. */
export function spoken(part: SubTask): string {
  return saysPaused(part) ? part.description.slice(sign.length + 1) : part.description;
}

function saysPaused({ description }: SubTask): boolean {
  return description.startsWith(`${sign} `);
}

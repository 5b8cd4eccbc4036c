import type { SubTask } from "./task";
import type { WaitingFor } from "./waiting-for";

/** What stands before the description of a part of which nothing new starts. */
const sign = "Paused: what is in work goes on to its end, nothing new starts until the upgrade is resumed.";

/** The part saying, or no longer saying, that it is paused, before whatever else it says of itself. */
export function withPause(part: SubTask, paused: boolean): SubTask {
  if ((part.isPaused ?? false) === paused) return part;
  const { isPaused: _, ...rest } = part;
  return paused
    ? { ...part, isPaused: true, description: `${sign} ${part.description}` }
    : { ...rest, description: spoken(part) };
}

/** The part with another description; that it is paused it goes on saying. */
export function describePart(part: SubTask, description: string): SubTask {
  return { ...part, description: part.isPaused ? `${sign} ${description}` : description };
}

/** A part that waits for something, and says so. */
export function waitingPart(part: SubTask, waitingFor: WaitingFor): SubTask {
  return { ...describePart(part, waitingFor.message), waitingFor };
}

/** A part that waits for nothing any more. */
export function atWork({ waitingFor: _, ...part }: SubTask): SubTask {
  return part;
}

/** The description of a part without the words that it is paused. */
export function spoken({ isPaused, description }: SubTask): string {
  return isPaused ? description.slice(sign.length + 1) : description;
}

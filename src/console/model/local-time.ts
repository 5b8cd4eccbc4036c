/** The text of a field for local times of a timestamp, in this browser's place; empty where it is none. */
export function localTimeOf(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return "";
  const two = (n: number) => String(n).padStart(2, "0");
  const date = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const rest = at.getSeconds() + at.getMilliseconds() / 1000;
  const seconds = rest === 0 ? "" : `:${rest.toFixed(3).padStart(6, "0")}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}

/** The timestamp of such a text; empty where the text is not complete. */
export function timestampOf(localTime: string): string {
  const at = new Date(localTime);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** A timestamp for people: the time of this browser's place with its zone, and UTC. */
export function timeWords(timestamp: string): string {
  const local = new Date(timestamp).toLocaleString(undefined, {
    dateStyle: "medium",
    timeStyle: "short",
  });
  return `${local} here (${utcWords(timestamp)})`;
}

/** A timestamp in UTC for people, to the minute: `2026-12-01 09:30 UTC`. */
export function utcWords(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace("T", " ")} UTC`;
}

/** The name of this browser's time zone, such as `Europe/Berlin`. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

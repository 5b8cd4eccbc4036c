/** Seconds of each unit. */
const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** A length of time in its two largest units: `1 d 18 h`, `2 h 5 min`, `3 min 20 s`, `8 s`. */
export function durationWords(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const first = units.findIndex(([unit]) => seconds >= unit);
  if (first < 0) return "0 s";
  let rest = seconds;
  const words = units.slice(first, first + 2).flatMap(([unit, name]) => {
    const count = Math.floor(rest / unit);
    rest -= count * unit;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return words.join(" ");
}

/** The same in whole minutes, for what nobody counts in seconds: `2 h 5 min`, `12 min`, `under 1 min`. */
export function roughDuration(milliseconds: number): string {
  return milliseconds < 60_000 ? "under 1 min" : durationWords(Math.floor(milliseconds / 60_000) * 60_000);
}

/** How far away a time is: `in 1 d 18 h`, `3 min ago`, `in 8 s`, `now`. */
export function distanceWords(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 1000) return "now";
  const words = distance < 60_000 ? `${Math.floor(distance / 1000)} s` : roughDuration(distance);
  return at > now ? `in ${words}` : `${words} ago`;
}

/** What is left of some work: `about 12 min left`. */
export function leftWords(milliseconds: number): string {
  return milliseconds < 60_000 ? "almost done" : `about ${roughDuration(milliseconds)} left`;
}

const most = 3;

/** Names for people: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`. */
export function shortList(names: readonly string[]): string {
  const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}

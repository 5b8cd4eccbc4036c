/** A number of things in words: `1 host`, `3 hosts`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

/** Names longer than this are nobody's slip of a finger; comparing them would take long. */
const longestCompared = 64;

/** The known name that a name is most like, whatever its case; undefined where none is known. The first of several. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > longestCompared) return known[0];
  const distances = known.map((one) => ({ one, edits: editsBetween(plain(name), plain(one)) }));
  return distances.sort((a, b) => a.edits - b.edits)[0]?.one;
}

/**
 * Whether a name is a known one but for its case, its separators (`bundle_id`, `bundle-id`) or one edit: a letter too many,
 * too few, another one, or two that have changed places.
 */
export function isTypoOf(name: string, known: string): boolean {
  if (name.length > longestCompared) return false;
  const [a, b] = [plain(name), plain(known)];
  // A request can have a hundred thousand names.
  return Math.abs(a.length - b.length) <= 1 && editsBetween(a, b) <= 1;
}

/** Whether a name is a known one but for its case and separators. */
export function isOtherCaseOf(name: string, known: string): boolean {
  return name.length <= longestCompared && plain(name) === plain(known);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, "");
}

/**
 * Edits that make one text of the other (optimal string alignment). Own code, because the well-kept packages take two letters
 * that have changed places for two edits.
 */
function editsBetween(a: string, b: string): number {
  let [twoBefore, before]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const edits = [(before?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (before?.[j - 1] ?? 0) + (same ? 0 : 1)];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits.push((twoBefore?.[j - 2] ?? 0) + 1);
      row.push(Math.min(...edits));
    }
    [twoBefore, before] = [before, row];
  }
  return before?.[b.length] ?? 0;
}

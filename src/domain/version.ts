/**
 * Compares two versions number by number (`9.0.1-0.24957456` above `9.0.1-0.24755229`, `3.10` above `3.5`).
 * Missing numbers count as 0, anything that is not a number is skipped. Negative where `a` is the older one.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbersOf(version: string): number[] {
  return (version.match(/\d+/g) ?? []).map(Number);
}

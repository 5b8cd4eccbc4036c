/** Adds up test counts; a missing one counts as nothing. */
export function addTotals(all) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const totals of all) for (const key of Object.keys(sum)) sum[key] += totals?.[key] ?? 0;
  return sum;
}

export const totalsLine = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** Between what the clock of the service may be ahead of the browser's, in milliseconds; negative where it is behind. */
export interface ClockBounds {
  readonly least: number;
  readonly most: number;
}

/** Before any answer: nothing is known. */
export const unknownClock: ClockBounds = { least: -Infinity, most: Infinity };

/** When an answer was asked for and had, by the browser's clock, and its Date header in epoch milliseconds. */
export interface DatedAnswer {
  readonly sent: number;
  readonly received: number;
  readonly date: number;
}

/**
 * The bounds after one more answer. Its Date has whole seconds and was made at some time between request and answer, so
 * each answer narrows them. Where it cannot be so, one of the clocks was set, and what was known before is worth nothing.
 */
export function afterAnswer({ least, most }: ClockBounds, { sent, received, date }: DatedAnswer): ClockBounds {
  const told = { least: date - received, most: date + 1000 - sent };
  const both = { least: Math.max(least, told.least), most: Math.min(most, told.most) };
  return both.least <= both.most ? both : told;
}

/** What to add to the browser's clock: nothing while the two may agree, else as little as they must be apart. */
export function clockOffset({ least, most }: ClockBounds): number {
  if (least > 0) return least;
  return most < 0 ? most : 0;
}

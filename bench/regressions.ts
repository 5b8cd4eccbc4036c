import { judgedNumber, type Measurement } from "./measurement";

/** Ratios of an earlier run by the ids of their measurements. */
export type Ratios = Readonly<Record<string, number>>;

/** By how much a ratio may be worse than the stored one. */
export const tolerance = 0.25;

/** A measurement that is worse than it was by more than the tolerance. */
export interface Regression {
  readonly id: string;
  readonly stored: number;
  readonly now: number;
}

/** The numbers that later runs are compared with: those that are steady from run to run. */
export function toRatios(measured: readonly Measurement[]): Ratios {
  const steady = measured.filter((one) => one.steady === true);
  return Object.fromEntries(steady.map((one) => [one.id, Number(judgedNumber(one).toPrecision(4))]));
}

/**
 * The measurements that are worse than stored by more than {@link tolerance}. One that could not be measured is; one without
 * a stored number is not.
 */
export function findRegressions(measured: readonly Measurement[], stored: Ratios): Regression[] {
  return measured.flatMap((one) => {
    const before = stored[one.id];
    if (one.steady !== true || before === undefined) return [];
    const now = judgedNumber(one);
    const worse = isMoreBetter(one) ? before / now - 1 : now / before - 1;
    return worse <= tolerance ? [] : [{ id: one.id, stored: before, now }];
  });
}

/** Ids of steady measurements that no ratio is stored of: they are compared with nothing. */
export function findUnstored(measured: readonly Measurement[], stored: Ratios): string[] {
  return measured.filter(({ id, steady }) => steady === true && stored[id] === undefined).map(({ id }) => id);
}

/** Of two runs of the same measurements the better one of each: a busy machine makes nothing better than it is. */
export function pickBetter(first: readonly Measurement[], second: readonly Measurement[]): Measurement[] {
  return first.map((one) => {
    const again = second.find(({ id }) => id === one.id);
    if (!again) return one;
    const [before, now] = [judgedNumber(one), judgedNumber(again)];
    return (isMoreBetter(one) ? now > before : now < before) ? again : one;
  });
}

function isMoreBetter({ target }: Measurement): boolean {
  return target?.atLeast !== undefined;
}

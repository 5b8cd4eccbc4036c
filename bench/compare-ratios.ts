import { judgedNumber, type Measured } from "./figure";

/** Ratios of an earlier run by the ids of their figures. */
export type Ratios = Readonly<Record<string, number>>;

/** By how much a ratio may be worse than the stored one. */
export const allowedStep = 0.25;

/** A figure that is worse than it was by more than is allowed. */
export interface Step {
  readonly id: string;
  readonly stored: number;
  readonly now: number;
}

/** The numbers that later runs are compared with: those that are steady from run to run. */
export function ratiosOf(measured: readonly Measured[]): Ratios {
  const steady = measured.filter(({ steady }) => steady === true);
  return Object.fromEntries(steady.map((one) => [one.id, Number(judgedNumber(one).toPrecision(4))]));
}

/** The figures that are worse than stored by more than {@link allowedStep}. One without a number is; one without a stored number is not. */
export function stepsOf(measured: readonly Measured[], stored: Ratios): Step[] {
  return measured.flatMap((one) => {
    const before = stored[one.id];
    if (one.steady !== true || before === undefined) return [];
    const now = judgedNumber(one);
    const worse = moreIsBetter(one) ? before / now - 1 : now / before - 1;
    return worse <= allowedStep ? [] : [{ id: one.id, stored: before, now }];
  });
}

/** Of two measurements of the same figures the better one of each: a busy machine makes nothing better than it is. */
export function betterOf(first: readonly Measured[], second: readonly Measured[]): Measured[] {
  return first.map((one) => {
    const again = second.find(({ id }) => id === one.id);
    if (!again) return one;
    const [before, now] = [judgedNumber(one), judgedNumber(again)];
    return (moreIsBetter(one) ? now > before : now < before) ? again : one;
  });
}

function moreIsBetter({ target }: Measured): boolean {
  return target?.atLeast !== undefined;
}

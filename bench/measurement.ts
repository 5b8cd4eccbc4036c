/** What a measurement has to reach, both ends included. */
export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One number of the benchmark, with that of its reference, measured alternately on the same server. */
export interface Measurement {
  /** By which runs are compared, such as `post-throughput`. */
  readonly id: string;
  /** What was measured and at which size, for the table. */
  readonly title: string;
  readonly value: number;
  /** Absent where there is nothing to compare with. */
  readonly reference?: number;
  readonly unit: string;
  /** What is judged: value / reference, value - reference, or the value alone. */
  readonly judged: "ratio" | "difference" | "value";
  /** Absent where the number is only reported. */
  readonly target?: Target;
  /** Whether it is steady enough from run to run for `--quick` to compare it with the stored one. */
  readonly steady?: boolean;
}

/** The number that is judged by the target and compared with earlier runs. */
export function judgedNumber({
  value,
  reference,
  judged,
}: Pick<Measurement, "value" | "reference" | "judged">): number {
  if (judged === "value" || reference === undefined) return value;
  return judged === "ratio" ? value / reference : value - reference;
}

/** Undefined where there is nothing to reach. A number that could not be measured reaches nothing. */
export function isReached(measurement: Measurement): boolean | undefined {
  if (!measurement.target) return undefined;
  const { atLeast = -Infinity, atMost = Infinity } = measurement.target;
  const number = judgedNumber(measurement);
  return number >= atLeast && number <= atMost;
}

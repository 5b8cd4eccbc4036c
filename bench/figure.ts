import type { Stage } from "./stage";

/** What a figure has to reach, both ends included. */
export interface Target {
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** One number of the benchmark, with that of its reference, measured in turns on the same server. */
export interface Measured {
  /** By which runs are compared, such as `post-throughput`. */
  readonly id: string;
  /** What was measured and at which size, for the table. */
  readonly figure: string;
  readonly value: number;
  /** Absent where the target is absolute. */
  readonly reference?: number;
  readonly unit: string;
  /** What is judged: value / reference, value - reference, or the value alone. */
  readonly judged: "ratio" | "difference" | "value";
  /** Absent where the number is only told. */
  readonly target?: Target;
  /** Whether it is steady enough from run to run for `--quick` to compare it with the stored one. */
  readonly steady?: boolean;
  /** Of how many hosts it is a point of the plot of cost against size. */
  readonly plotted?: { readonly hosts: number };
}

/** The clusters that a part of the benchmark needs, and how the service is told to run. */
export interface Needs {
  readonly clusters: number;
  readonly hosts: number;
  /** Hosts of a cluster that are upgraded together; default 1. */
  readonly hostsAtOnce?: number;
}

/** What a part of the benchmark is told. */
export interface Run {
  /** Smaller sizes and fewer rounds. */
  readonly quick: boolean;
  /** PostgreSQL and a Temporal server instead of the embedded one. */
  readonly postgres: boolean;
}

/** A part of the benchmark that runs on a service of its own, or on one that parts with the same needs share. */
export interface StagedExperiment {
  readonly name: string;
  readonly needs: (run: Run) => Needs;
  readonly run: (stage: Stage, run: Run) => Promise<readonly Measured[]>;
  /** Takes minutes whatever its size, so `--quick` leaves it out. */
  readonly slow?: boolean;
}

/** A part of the benchmark that starts what it measures. */
export interface LoneExperiment extends Pick<StagedExperiment, "name" | "slow"> {
  readonly runAlone: (run: Run) => Promise<readonly Measured[]>;
}

export type Experiment = StagedExperiment | LoneExperiment;

/** The number that is judged by the target and compared with earlier runs. */
export function judgedNumber({ value, reference, judged }: Pick<Measured, "value" | "reference" | "judged">): number {
  if (judged === "value" || reference === undefined) return value;
  return judged === "ratio" ? value / reference : value - reference;
}

/** Undefined where there is nothing to reach. A number that could not be measured reaches nothing. */
export function isReached(measured: Measured): boolean | undefined {
  if (!measured.target) return undefined;
  const { atLeast = -Infinity, atMost = Infinity } = measured.target;
  const number = judgedNumber(measured);
  return number >= atLeast && number <= atMost;
}

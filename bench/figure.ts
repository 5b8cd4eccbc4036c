import type { Stage } from "./stage";

/** One number of the benchmark, with that of its reference, measured in turns on the same server. */
export interface Measured {
  readonly figure: string;
  readonly value: number;
  /** Absent where the target is absolute. */
  readonly reference?: number;
  readonly unit: string;
  /** What must hold for the target to be reached: of value / reference, or of value where there is no reference. */
  readonly target: { readonly atLeast?: number; readonly atMost?: number };
}

/** A part of the benchmark: what it needs, and how its figures are measured. */
export interface Experiment {
  readonly name: string;
  /** Clusters and hosts of the fleet that it runs on, and the service's variables. */
  readonly needs: (quick: boolean) => {
    readonly clusters: number;
    readonly hosts: number;
    readonly variables?: Readonly<Record<string, string>>;
  };
  readonly run: (stage: Stage, quick: boolean) => Promise<readonly Measured[]>;
}

/** The number that is compared with the target and with earlier runs. */
export function ratioOf({ value, reference }: Measured): number {
  return reference === undefined ? value : value / reference;
}

export function isReached(measured: Measured): boolean {
  const { atLeast = -Infinity, atMost = Infinity } = measured.target;
  const ratio = ratioOf(measured);
  return ratio >= atLeast && ratio <= atMost;
}

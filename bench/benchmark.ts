import type { Fixture, ServerChoice } from "./fixture";
import type { FleetOptions } from "./fleet";
import type { Measurement } from "./measurement";

/** What a benchmark is told. */
export interface Run extends ServerChoice {
  /** Smaller sizes and fewer rounds. */
  readonly quick: boolean;
}

/** A benchmark that runs on a service of its own, or on one that benchmarks with the same fleet share. */
export interface FixtureBenchmark {
  readonly name: string;
  readonly fleet: (run: Run) => FleetOptions;
  readonly measure: (fixture: Fixture, run: Run) => Promise<readonly Measurement[]>;
  /** Shares its service with no other benchmark: what that has left in memory would be measured. */
  readonly alone?: boolean;
  /** Takes minutes whatever its size, or gives nothing that later runs could be compared with, so `--quick` leaves it out. */
  readonly slow?: boolean;
}

/** A benchmark that starts what it measures. */
export interface StandaloneBenchmark extends Pick<FixtureBenchmark, "name" | "slow"> {
  readonly measureAlone: (run: Run) => Promise<readonly Measurement[]>;
}

export type Benchmark = FixtureBenchmark | StandaloneBenchmark;

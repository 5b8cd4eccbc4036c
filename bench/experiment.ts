import type { Measured } from "./figure";
import type { Needs } from "./needs";
import type { Stage, StageChoice } from "./stage";

/** What a part of the benchmark is told. */
export interface Run extends StageChoice {
  /** Smaller sizes and fewer rounds. */
  readonly quick: boolean;
}

/** A part of the benchmark that runs on a service of its own, or on one that parts with the same needs share. */
export interface StagedExperiment {
  readonly name: string;
  readonly needs: (run: Run) => Needs;
  readonly run: (stage: Stage, run: Run) => Promise<readonly Measured[]>;
  /** Shares its service with no other part: what that has left in memory would be measured. */
  readonly alone?: boolean;
  /** Takes minutes whatever its size, or gives nothing that later runs could be compared with, so `--quick` leaves it out. */
  readonly slow?: boolean;
}

/** A part of the benchmark that starts what it measures. */
export interface LoneExperiment extends Pick<StagedExperiment, "name" | "slow"> {
  readonly runAlone: (run: Run) => Promise<readonly Measured[]>;
}

export type Experiment = StagedExperiment | LoneExperiment;

import type { ActivityDependencies } from "../../activity-dependencies";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import type { AnyPrecheckInput, Precheck } from "../precheck";

/** What checks of baseline-managed clusters work with. */
export interface BaselinePrecheckInput extends AnyPrecheckInput {
  readonly client: Vim25Client;
  /** The lifecycle manager of the same component manager. */
  readonly lifecycle: VlcmClient;
  readonly patchFor: ActivityDependencies["patchFor"];
}

/** One condition that must hold before a baseline-managed cluster is touched. */
export type BaselinePrecheck = Precheck<BaselinePrecheckInput>;

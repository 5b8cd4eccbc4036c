import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "./codec";
import { Timestamp } from "./timestamp";

/**
 * What a running Task or SubTask waits for. `code` is for programs, `message` for people.
 *
 * `SOAK`: the time between two hosts. `HEALTH_GATE`: a healthy cluster before the next host. `SWITCHOVER`: the time at which
 * a management server switches over. `COMMIT`: somebody's commit, as it could not begin at its time. `WORKFLOW_TASK_FAILING`:
 * the Workflow cannot continue, because each try to run its code fails.
 */
export const WaitingFor = model(
  { code: OneOf("SOAK", "HEALTH_GATE", "SWITCHOVER", "COMMIT", "WORKFLOW_TASK_FAILING"), message: t.string },
  {
    /** When it began to wait. */
    since: Timestamp,
    /** How many tries have failed since then. */
    attempts: WholeNumber,
  },
);
export type WaitingFor = t.TypeOf<typeof WaitingFor>;

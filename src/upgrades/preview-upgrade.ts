import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { previewOf, type UpgradePreview } from "../domain/upgrade-preview";
import type { UpgradeSpec } from "../domain/upgrade-spec";
import { admitAndPlan, type PlanDependencies } from "./admit-and-plan";
import type { ServiceError } from "./service-error";

/** What a start with the same request would do now, or why it would be refused. Starts nothing. */
export function previewUpgrade(deps: PlanDependencies) {
  return (spec: UpgradeSpec): TE.TaskEither<ServiceError, UpgradePreview> =>
    pipe(admitAndPlan(deps, spec, deps.identities.newId()), TE.map(previewOf));
}

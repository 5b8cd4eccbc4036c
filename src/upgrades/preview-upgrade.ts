import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as T from "fp-ts/Task";
import * as TE from "fp-ts/TaskEither";
import type { ErrorBody } from "../domain/error-body";
import type { RequestWarning } from "../domain/request-warning";
import { clustersOf, type ClusterUpgradePlan, type UpgradePlan } from "../domain/upgrade-plan";
import { previewOf, type HostsForPreview, type UpgradePreview } from "../domain/upgrade-preview";
import type { UpgradeSpec } from "../domain/upgrade-spec";
import { admitAndPlan, type PlanDependencies } from "./admit-and-plan";
import { silent } from "./cluster-view";
import type { Inventory } from "./ports";
import type { ServiceError } from "./service-error";

export interface PreviewDependencies extends PlanDependencies {
  readonly inventory: Pick<Inventory, "clusters" | "readClusters" | "installations" | "readHosts">;
}

/**
 * What a start with the same request would do now, or why it would be refused. Starts nothing. Hosts that a component
 * manager does not tell are not in the waves; the preview is good without them, and says so.
 */
export function previewUpgrade(deps: PreviewDependencies) {
  return (spec: UpgradeSpec, warnings?: readonly RequestWarning[]): TE.TaskEither<ServiceError, UpgradePreview> =>
    pipe(
      admitAndPlan(deps, { spec, ...(warnings && { warnings }) }, deps.identities.newId()),
      TE.chainTaskK((plan) =>
        pipe(
          hostsOf(deps.inventory, plan),
          T.map((known) => previewOf(plan, known)),
        ),
      ),
    );
}

/** The clusters that would be upgraded, each with its hosts. A plan without HOSTOS reads none. */
function hostsOf(inventory: Pick<Inventory, "readHosts">, plan: UpgradePlan): T.Task<HostsForPreview> {
  const readOne = (cluster: ClusterUpgradePlan) =>
    pipe(
      inventory.readHosts(cluster),
      T.map((read) => ({ cluster, read })),
    );
  return pipe(
    T.traverseArray(readOne)(clustersOf(plan)),
    T.map((all) => ({
      hosts: new Map(
        all.flatMap(({ cluster, read }) => (E.isRight(read) ? [[cluster.resourceId, read.right] as const] : [])),
      ),
      errors: new Map<string, ErrorBody>(
        all.flatMap(({ cluster, read }) =>
          E.isLeft(read) ? [[cluster.resourceId, silent(cluster.componentManagerId, read.left)] as const] : [],
        ),
      ),
    })),
  );
}

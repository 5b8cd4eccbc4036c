import * as TE from "fp-ts/TaskEither";
import { type Role, roleCovers } from "../../authentication/authentication";
import { reasonsOf } from "../../domain/spec/maintenance-override";
import { Upgrade } from "../../domain/spec/upgrade";
import type { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { notFound } from "../../upgrades/service-error";
import type { ApiError } from "../api-error";
import { roleRequired } from "../middleware/authenticate";
import { parameter, UpgradeId } from "../parameters";
import { json, type Success } from "../response";
import { noParameters } from "../route";

export const upgradeId = parameter(UpgradeId, "Id of the upgrade.");

/** A request that names an upgrade in its path. */
export const oneUpgrade = { ...noParameters, path: { id: upgradeId } };

export const unknownUpgrade = ({ id = "" }: Readonly<Record<string, string>>) => notFound("upgrade", id);

/** The upgrade as it is after a request. */
export const answersUpgrade = (description: string): Success<Upgrade> => ({
  status: 200,
  description,
  representation: json(Upgrade),
  taskId: (upgrade) => upgrade.taskId ?? upgrade.id,
  reasons: reasonsOf,
});

/** Only an ADMIN has an upgrade ignore maintenance windows. */
export function ifAllowed<A>(
  { maintenanceWindow }: Pick<UpgradeSpec, "maintenanceWindow">,
  role: Role | undefined,
  then: () => TE.TaskEither<ApiError, A>,
): TE.TaskEither<ApiError, A> {
  return maintenanceWindow === undefined || roleCovers(role, "ADMIN")
    ? then()
    : TE.left(roleRequired("ADMIN", role, "maintenanceWindow IGNORE"));
}

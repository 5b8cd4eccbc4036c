import { isSameVersion } from "../../../src/domain/version";
import type { ActivityDependencies, PatchSource } from "../../activity-dependencies";
import type { ClusterTarget } from "../../contract";
import { DriverError } from "../../drivers/driver-error";

/** Where the hosts of a cluster get the target from. Throws DriverError where the inventory does not say. */
export function patchSource(
  patchFor: ActivityDependencies["patchFor"],
  { cluster, targetVersion, customIsoId }: ClusterTarget,
): PatchSource {
  const query = { version: targetVersion, ...(customIsoId !== undefined && { customIsoId }) };
  const source = patchFor(cluster.componentManagerId, query);
  const wanted = customIsoId === undefined ? `the patch of ${targetVersion}` : `ISO ${customIsoId}`;
  if (!source || source.metadataUrls.length === 0) {
    throw unusable(`The inventory has no source of ${wanted} for hosts of ${cluster.componentManagerId}.`);
  }
  if (!isSameVersion(source.version, targetVersion)) {
    throw unusable(`In the inventory ${wanted} has version ${source.version}, not ${targetVersion}.`);
  }
  return source;
}

function unusable(message: string): DriverError {
  return new DriverError({
    kind: "permanent",
    code: "PATCH_SOURCE_UNKNOWN",
    message,
    remediation: "Add the version and the URLs of its depot to the inventory, then retry the upgrade.",
  });
}

import { isSameVersion } from "../domain/version";
import type { InventoryContent } from "./inventory-content";

/** Where hosts of baseline-managed clusters get a HOSTOS version from. */
export interface PatchEntry {
  readonly version: string;
  /** URLs of depots' `metadata.zip`, reachable from the hosts; never empty. */
  readonly metadataUrls: readonly string[];
  /** URLs of single packages, where not everything in the depots is to be installed. */
  readonly vibUrls?: readonly string[];
}

/** The patches of an inventory, looked up by version or, where it is named, by ISO. */
export interface Patches {
  find(query: { readonly version: string; readonly customIsoId?: string }): PatchEntry | undefined;
}

/** Patches and ISOs of the inventory; what is wrong with them goes to `problems`. */
export function patchesOf({ patches = [], isos = [] }: InventoryContent, problems: string[]): Patches {
  const byVersion = new Map<string, PatchEntry>();
  for (const patch of patches) {
    const { version } = patch;
    if ([...byVersion.keys()].some((other) => isSameVersion(other, version)))
      problems.push(`Patch ${version} is there twice.`);
    if (patch.metadataUrls.length === 0) problems.push(`Patch ${version} has no metadataUrls.`);
    byVersion.set(version, patch);
  }
  const byIso = new Map(
    isos.flatMap(({ id, version, metadataUrls, vibUrls }): [string, PatchEntry][] =>
      metadataUrls ? [[id, { version, metadataUrls, ...(vibUrls && { vibUrls }) }]] : [],
    ),
  );
  const urls = [...byVersion.values(), ...byIso.values()].flatMap(({ metadataUrls, vibUrls = [] }) => [
    ...metadataUrls,
    ...vibUrls,
  ]);
  for (const url of urls) {
    if (!URL.canParse(url)) problems.push(`${url} of a patch is no URL.`);
  }
  return {
    find: ({ version, customIsoId }) =>
      customIsoId === undefined
        ? [...byVersion.values()].find((patch) => isSameVersion(patch.version, version))
        : byIso.get(customIsoId),
  };
}

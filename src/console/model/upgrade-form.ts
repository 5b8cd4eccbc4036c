import * as E from "fp-ts/Either";
import type { Cluster } from "../../domain/cluster";
import { UpgradeSpec, type HostosUpgradeOptionsSpec, type PreRemediationPowerAction } from "../../domain/upgrade-spec";

/** Options that are either on or left to their default. */
export const switches = {
  enforceHclValidation: "Check hardware compatibility",
  enableQuickPatch: "Patch live where possible (quick patch)",
  enableQuickboot: "Restart without firmware (quick boot)",
  evacuateOfflineVms: "Move powered-off machines too",
  disableHac: "Switch off admission control meanwhile",
  disableDpm: "Switch off power management meanwhile",
} as const;
export type Switch = keyof typeof switches;

/** What somebody has filled in. `scheduledTimestamp` is what a date field gives: local time without an offset. */
export interface UpgradeForm {
  readonly bundleId: string;
  readonly clusterIds: readonly string[];
  readonly isDraft: boolean;
  readonly scheduledTimestamp: string;
  readonly switches: ReadonlySet<Switch>;
  readonly powerAction: PreRemediationPowerAction | "";
  readonly retries: { readonly count: number; readonly delay: number } | undefined;
}

export const emptyForm: UpgradeForm = {
  bundleId: "",
  clusterIds: [],
  isDraft: true,
  scheduledTimestamp: "",
  switches: new Set(),
  powerAction: "",
  retries: undefined,
};

/** The switches that a cluster of this kind takes; the service refuses the others. */
export function fits(name: Switch, kind: Cluster["kind"]): boolean {
  return kind !== "BASELINE" || (name !== "enforceHclValidation" && name !== "enableQuickPatch");
}

/** The request of a form, or which field is missing or wrong. */
export function requestOf(form: UpgradeForm, clusters: readonly Cluster[]): E.Either<string, UpgradeSpec> {
  if (form.bundleId === "") return E.left("Choose a bundle.");
  if (form.clusterIds.length === 0) return E.left("Choose at least one cluster.");
  const at = form.scheduledTimestamp === "" ? undefined : new Date(form.scheduledTimestamp);
  if (at && Number.isNaN(at.getTime())) return E.left("The time is not complete.");
  const request = {
    bundleId: form.bundleId,
    resourceType: "CLUSTER",
    draftMode: form.isDraft,
    resourceUpgradeSpecs: form.clusterIds.map((resourceId) => {
      const options = optionsOf(form, clusters.find(({ id }) => id === resourceId)?.kind);
      return {
        resourceId,
        ...(at ? { scheduledTimestamp: at.toISOString() } : { upgradeNow: true }),
        ...(Object.keys(options).length > 0 && { hostosUpgradeOptionsSpec: options }),
      };
    }),
  };
  const decoded = UpgradeSpec.decode(request);
  return E.isRight(decoded)
    ? E.right(decoded.right)
    : E.left("Retries are 0 to 100, their delay is 0 to 3600 seconds.");
}

function optionsOf(form: UpgradeForm, kind: Cluster["kind"]): HostosUpgradeOptionsSpec {
  const on = [...form.switches].filter((name) => fits(name, kind)).map((name) => [name, true] as const);
  return {
    ...Object.fromEntries(on),
    ...(form.powerAction !== "" && { preRemediationPowerAction: form.powerAction }),
    ...(form.retries && {
      hostosUpgradeFailureAction: {
        action: "RETRY" as const,
        retryCount: form.retries.count,
        retryDelay: form.retries.delay,
      },
    }),
  };
}

/** The same request for a terminal. A quotation mark in it ends the shell's own, so it is written the long way. */
export function curlOf(origin: string, spec: UpgradeSpec): string {
  const body = JSON.stringify(spec, null, 2).replaceAll("'", "'\\''");
  return `curl -s ${origin}/v1/upgrades -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${body}'`;
}

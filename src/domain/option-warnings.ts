import { remediationOptions } from "./remediation-options";
import type { RequestWarning } from "./request-warning";
import type { ResourceUpgradeSpec, UpgradeSpec } from "./upgrade-spec";

/** Options of a request that are known and yet have no effect, because another one rules them out. */
export function warningsOfOptions(spec: UpgradeSpec): readonly RequestWarning[] {
  return spec.resourceUpgradeSpecs.flatMap((resource, i) => ofResource(resource, `resourceUpgradeSpecs[${i}]`));
}

function ofResource(resource: ResourceUpgradeSpec, path: string): RequestWarning[] {
  const options = resource.hostosUpgradeOptionsSpec ?? {};
  const { retryCount, retryDelay, action } = options.hostosUpgradeFailureAction ?? {};
  const failure = `${path}.hostosUpgradeOptionsSpec.hostosUpgradeFailureAction`;
  const retries = { retryCount, retryDelay };
  const effective = remediationOptions(resource);
  return [
    ...(["retryCount", "retryDelay"] as const)
      .filter((field) => action !== "RETRY" && (retries[field] ?? 0) > 0)
      .map((field) => {
        const because = action === undefined ? "there is no action RETRY beside it" : "the action is FAIL";
        return withoutEffect(`${failure}.${field}`, `${field} has no effect, because ${because}: a host is tried once`);
      }),
    ...(["enableQuickboot", "evacuateOfflineVms"] as const)
      .filter((field) => resource[field] !== undefined && options[field] !== undefined)
      .filter((field) => resource[field] !== options[field])
      .map((field) => {
        const wins = `hostosUpgradeOptionsSpec.${field} ${String(options[field])} counts`;
        return withoutEffect(`${path}.${field}`, `${field} ${String(resource[field])} has no effect: ${wins}`);
      }),
    ...(resource.upgradeNow === true && resource.scheduledTimestamp !== undefined
      ? [withoutEffect(`${path}.scheduledTimestamp`, "scheduledTimestamp has no effect: upgradeNow true counts")]
      : []),
    ...(effective.enableQuickPatch === true && effective.enableQuickboot === true
      ? [
          withoutEffect(
            options.enableQuickboot === undefined
              ? `${path}.enableQuickboot`
              : `${path}.hostosUpgradeOptionsSpec.enableQuickboot`,
            "enableQuickboot and enableQuickPatch exclude each other for a host: one that is patched live is not restarted",
          ),
        ]
      : []),
    ...(effective.evacuateOfflineVms === true && effective.preRemediationPowerAction === "POWER_OFF_VMS"
      ? [
          withoutEffect(
            options.evacuateOfflineVms === undefined
              ? `${path}.evacuateOfflineVms`
              : `${path}.hostosUpgradeOptionsSpec.evacuateOfflineVms`,
            "evacuateOfflineVms also moves the virtual machines that POWER_OFF_VMS is there to leave on their host",
          ),
        ]
      : []),
  ];
}

/** `what` has no full stop. */
function withoutEffect(path: string, what: string): RequestWarning {
  return { code: "OPTIONS_EXCLUDE_EACH_OTHER", path, message: `${path}: ${what}.` };
}

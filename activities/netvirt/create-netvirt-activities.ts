import type { ActivityDependencies } from "../activity-dependencies";
import { activityRetryPolicy, pacedRetry, restoreRetry, runActivity, shortBounds } from "../activity-run";
import type { NetvirtActivities, NetvirtTarget } from "../contract";
import { unobserved } from "../drivers/call-observation";
import { createNsxClient, type NsxClient } from "../drivers/nsx/nsx-client";
import { beginUnder, type Closures } from "../closure-check";
import { managerClients } from "../manager-clients";
import { runNetvirtPrechecks } from "./netvirt-prechecks";
import { putNetvirtSettings, restoreNetvirtSettings } from "./netvirt-settings";
import { readNetvirtUpgrade } from "./read-netvirt-upgrade";
import { upgradeNetvirtComponent } from "./upgrade-netvirt-component";

/** The Activities of NETVIRT instances; which of them wait out an outage is as for those of clusters. */
export function createNetvirtActivities({
  componentManager,
  limits,
  observe = unobserved,
  ...closures
}: Closures & Pick<ActivityDependencies, "componentManager" | "limits" | "observe">): NetvirtActivities {
  const clientOf = managerClients(componentManager, (access) =>
    createNsxClient(access, { callTimeout: limits.callTimeout, clock: limits.clock, observe }),
  );
  const contextOf = ({ netvirt }: NetvirtTarget) => ({
    netvirt: netvirt.name,
    componentManager: netvirt.componentManagerId,
  });
  const client = ({ netvirt }: NetvirtTarget): NsxClient => clientOf(netvirt.componentManagerId);
  const shortRetryPolicy = () => activityRetryPolicy(shortBounds(limits));

  return {
    runNetvirtPrechecks: (target) => runNetvirtPrechecks({ clientOf, limits }, target),
    readNetvirtUpgrade: (target) =>
      runActivity({ context: contextOf(target), failure: pacedRetry }, () =>
        readNetvirtUpgrade(client(target), shortRetryPolicy(), target),
      ),
    putNetvirtSettings: (input) =>
      runActivity({ context: contextOf(input), failure: () => ({ retryable: false }) }, () =>
        beginUnder(closures, input.places)(() => putNetvirtSettings(client(input), activityRetryPolicy(limits), input)),
      ),
    restoreNetvirtSettings: (input) =>
      runActivity(
        {
          context: contextOf(input),
          failure: (error) => restoreRetry(limits, error),
        },
        () => restoreNetvirtSettings(client(input), shortRetryPolicy(), input.previous),
      ),
    upgradeNetvirtComponent: (input) => upgradeNetvirtComponent({ clientOf, closures, limits }, input),
  };
}

import type { NotificationDependencies } from "../activity-dependencies";
import { runActivity } from "../activity-run";
import type { NotificationActivities } from "../contract";
import { deliverNotification } from "./deliver-notification";

/** The Activities that tell receivers of notifications; without dependencies no receiver is known. */
export function createNotificationActivities(
  dependencies: NotificationDependencies | undefined,
): NotificationActivities {
  return {
    deliverNotification: (input) => deliverNotification({ receiver: (id) => dependencies?.receiver(id) }, input),
    readUpgradeEnd: ({ upgradeId }) =>
      runActivity(
        { context: { upgradeId }, upgradeId },
        async () => (await dependencies?.readUpgradeEnd(upgradeId)) ?? { isRunning: false },
      ),
    readUpgradeWaits: ({ upgradeId }) =>
      runActivity({ context: { upgradeId }, upgradeId }, async () => ({
        waits: (await dependencies?.readWaits(upgradeId)) ?? [],
      })),
  };
}

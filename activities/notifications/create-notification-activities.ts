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
    readUpgradeLoss: ({ upgradeId }) =>
      runActivity({ context: { upgradeId }, upgradeId }, async () => {
        const reason = await dependencies?.readLoss(upgradeId);
        return reason === undefined ? {} : { reason };
      }),
    readUpgradeWaits: ({ upgradeId }) =>
      runActivity({ context: { upgradeId }, upgradeId }, async () => ({
        waits: (await dependencies?.readWaits(upgradeId)) ?? [],
      })),
  };
}

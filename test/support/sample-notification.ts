import type { NotificationData, UpgradeNotification } from "../../src/domain/notifications/upgrade-notification";

/** A notification as an upgrade makes it. */
export function sampleNotification(
  type: UpgradeNotification["type"] = "upgrade.failed",
  data: Partial<NotificationData> = {},
): UpgradeNotification {
  return {
    id: "0d5c6d0e-0000-4000-8000-000000000001-7",
    sequence: 7,
    type,
    time: "2026-11-01T10:00:00.123Z",
    data: {
      upgradeId: "0d5c6d0e-0000-4000-8000-000000000001",
      name: "Upgrade Zürich to 9.0.2",
      bundleId: "b",
      status: "INPROGRESS",
      taskStatus: "In Progress",
      errors: [],
      ...data,
    },
  };
}

import type { WorkflowHandle } from "@temporalio/client";
import type { NotificationData, NotificationType } from "../../src/domain/notifications/upgrade-notification";
import type { notifyWorkflow } from "../../workflows/notifications/notify-workflow";
import { eventually } from "./eventually";
import type { FakeActivities } from "./fake-activities";
import { untilQuiet } from "./quiet";
import type { RunningUpgrade } from "./running-upgrade";
import type { UpgradeBench } from "./upgrade-bench";

/** The Workflow that tells the receivers of an upgrade. */
export function notifierOf(bench: UpgradeBench, upgrade: RunningUpgrade): WorkflowHandle<typeof notifyWorkflow> {
  return bench.env.client.workflow.getHandle<typeof notifyWorkflow>(`notify/${upgrade.id}`);
}

/** Waits until nothing of an upgrade is on its way any more, to its receivers neither. */
export async function untilAllIsTold(bench: UpgradeBench, upgrade: RunningUpgrade): Promise<void> {
  await untilQuiet(upgrade);
  await eventually(
    () => notifierOf(bench, upgrade).describe(),
    ({ raw }) => (raw.pendingActivities ?? []).length === 0 && !raw.pendingWorkflowTask,
  );
}

/** What a receiver was told, in the order of what happened, each once. */
export function toldTo(fake: FakeActivities, receiver = "chat"): NotificationType[] {
  const once = new Map(noticesFor(fake, receiver).map((notice) => [notice.sequence, notice.type]));
  return [...once].sort(([a], [b]) => a - b).map(([, type]) => type);
}

/** What a receiver was told with notifications of a type, each once, in their order. */
export function dataOf(fake: FakeActivities, type: NotificationType, receiver = "chat"): NotificationData[] {
  const notices = noticesFor(fake, receiver).filter((notice) => notice.type === type);
  const once = new Map(notices.map((notice) => [notice.sequence, notice.data]));
  return [...once].sort(([a], [b]) => a - b).map(([, data]) => data);
}

/** The numbers of the notifications for a receiver, in the order in which they were sent, each attempt. */
export function orderOf(fake: FakeActivities, receiver: string): number[] {
  return noticesFor(fake, receiver).map(({ sequence }) => sequence);
}

function noticesFor(fake: FakeActivities, receiver: string) {
  return fake.notifications.filter((input) => input.receiver === receiver).map(({ notice }) => notice);
}

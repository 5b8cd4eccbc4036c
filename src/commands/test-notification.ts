import { randomUUID } from "node:crypto";
import type { NotificationMessage } from "../../activities/notifications/notification-message";
import { sendNotification } from "../../activities/notifications/send-notification";
import type { Config } from "../config";
import { toTimestamp } from "../domain/timestamp";
import { oneLine } from "../startup-error";
import { loadInventory } from "./operator-files";

/** Where the command says what has come of it. */
interface Terminal {
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
}

/**
 * Sends a notification of the type `notification.test` to the receiver of the inventory that `args` names, once, as
 * those of upgrades are sent; needs neither Temporal nor an upgrade. Resolves to the exit code: 0 where the
 * receiver has taken it, 2 where `args` name no receiver.
 */
export async function testNotificationCommand(
  config: Config,
  args: readonly string[],
  { output, errors }: Terminal,
): Promise<number> {
  const refuse = (reason: string, code = 1) => {
    errors.write(`${reason}\n`);
    return code;
  };
  try {
    const { notificationReceivers } = loadInventory(config);
    const [id = ""] = args;
    const receiver = notificationReceivers.get(id);
    const known = [...notificationReceivers.keys()].join(", ") || "none";
    if (!receiver) return refuse(`Name one of the inventory's notification receivers: ${known}.`, 2);
    const { verdict, what, status } = await sendNotification(receiver, testMessage(id));
    if (status === undefined) return refuse(`Receiver ${id} ${what}.`);
    if (verdict !== "TAKEN") return refuse(`Receiver ${id} ${what}: it did not accept the test.`);
    output.write(`Receiver ${id} ${what}: it accepted the test.\n`);
    return 0;
  } catch (error) {
    return refuse(oneLine(error));
  }
}

function testMessage(receiver: string): NotificationMessage {
  const time = toTimestamp(Date.now());
  const message = "This is a test. No upgrade is affected.";
  return {
    event: {
      id: `test-${randomUUID()}`,
      type: "notification.test",
      source: "/v1/upgrades",
      time,
      data: { receiver, message },
    },
    text: {
      title: message,
      facts: [
        { label: "Receiver", value: receiver },
        { label: "Time", value: time },
      ],
      errors: [],
    },
  };
}

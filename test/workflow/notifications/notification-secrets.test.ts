import { expect } from "chai";
import { deliverNotification } from "../../../activities/notifications/deliver-notification";
import { eventually } from "../../support/eventually";
import { FakeActivities } from "../../support/fake-activities";
import { notifierOf } from "../../support/notifier";
import { textOf } from "../../support/text-of";
import { useBench } from "../../support/upgrade-bench";
import { WebhookReceiver } from "../../support/webhook-receiver";

const key = Buffer.from("a secret of thirty-two bytes 123").toString("base64");

describe("URL and secret of a receiver", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");
  const receiver = new WebhookReceiver(`whsec_${key}`);
  before(() => receiver.start());
  after(() => receiver.stop());

  it("are in no history, no memo, no Web UI and no failure of a delivery, and neither is what it answers", async () => {
    const { url } = receiver;
    const secrets = [`whsec_${key}`];
    const fake = new FakeActivities({
      deliverNotification: (input) =>
        deliverNotification({ receiver: () => ({ format: "CLOUDEVENTS", url, secrets }) }, input),
    });
    receiver.status = 302;
    receiver.headers = { "retry-after": "1" };
    const upgrade = await bench().upgrade({ draft: true, notifications: [{ id: "chat", retryHours: 24 }] }, fake);
    const notifier = notifierOf(bench(), upgrade);
    const refused = await eventually(
      () => notifier.describe().catch(() => undefined),
      (described) => described?.raw.pendingActivities?.[0]?.lastFailure != null,
    );
    expect(textOf(refused?.raw)).to.contain("Receiver chat of notifications answered 302");
    const metadata = await notifier.query("__temporal_workflow_metadata");
    receiver.status = 204;
    await upgrade.ask("commit");
    await upgrade.end();
    expect(await notifier.result()).to.deep.equal({ delivered: 3, givenUp: 0 });
    expect(receiver.refused).to.deep.equal([]);
    const seen = [
      refused?.raw,
      metadata,
      await upgrade.handle.fetchHistory(),
      await (await upgrade.child()).fetchHistory(),
      await notifier.fetchHistory(),
      (await upgrade.handle.describe()).raw,
      (await notifier.describe()).raw,
    ].map(textOf);
    for (const text of seen)
      for (const hidden of [key, "whsec_", "t0ken", "query-t0ken", new URL(url).host, "/elsewhere", "secret words"])
        expect(text).to.not.contain(hidden);
  });
});

import { createHmac } from "node:crypto";
import { mock } from "node:test";
import type { Info } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import type { NotificationInput } from "../../../activities/contract";
import { deliverNotification } from "../../../activities/notifications/deliver-notification";
import { ChatReceiver } from "../../support/chat-receiver";
import { WebhookReceiver } from "../../support/webhook-receiver";

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;
const oldSecret = `whsec_${Buffer.from("an old secret of 32 bytes 123456").toString("base64")}`;
const input: NotificationInput = {
  receiver: "chat",
  notice: {
    id: "0d5c6d0e-0000-4000-8000-000000000001-7",
    sequence: 7,
    type: "upgrade.paused",
    time: "2026-11-01T00:00:00.000Z",
    data: {
      upgradeId: "0d5c6d0e-0000-4000-8000-000000000001",
      name: "Upgrade Zürich to 9.0.2",
      bundleId: "b",
      status: "PAUSED",
      taskStatus: "In Progress",
      errors: [],
    },
  },
};

describe("deliverNotification", () => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = new WebhookReceiver(secret);
    await receiver.start();
  });
  afterEach(() => receiver.stop());

  const deliver = (
    secrets: readonly string[] = [secret],
    { timeout, info }: { timeout?: number; info?: Partial<Info> } = {},
  ) =>
    new MockActivityEnvironment(info).run(() =>
      deliverNotification(
        {
          receiver: (id) => (id === "chat" ? { format: "CLOUDEVENTS", url: receiver.url, secrets } : undefined),
          ...(timeout !== undefined && { timeout }),
        },
        input,
      ),
    );
  const failure = async (delivery: Promise<unknown>): Promise<ApplicationFailure> => {
    const thrown: unknown = await delivery.then(
      () => expect.fail("should have failed"),
      (error: unknown) => error,
    );
    if (!(thrown instanceof ApplicationFailure)) throw thrown;
    return thrown;
  };

  it("sends a CloudEvent in structured mode that the library of Standard Webhooks verifies", async () => {
    expect(await deliver()).to.deep.equal({ outcome: "DELIVERED" });
    expect(receiver.refused).to.deep.equal([]);
    const [{ headers, event } = expect.fail("nothing arrived")] = receiver.received;
    expect(headers["content-type"]).to.match(/^application\/cloudevents\+json/);
    expect(headers["webhook-id"]).to.equal(input.notice.id);
    expect(JSON.parse(JSON.stringify(event))).to.deep.equal({
      specversion: "1.0",
      id: input.notice.id,
      type: "upgrade.paused",
      time: "2026-11-01T00:00:00.000Z",
      source: `/v1/upgrades/${input.notice.data.upgradeId}`,
      subject: input.notice.data.upgradeId,
      datacontenttype: "application/json",
      sequence: "0000000007",
      data: input.notice.data,
    });
  });

  it("signs id, time of the attempt and body as Standard Webhooks says, whoever implements it", async () => {
    const before = Math.floor(Date.now() / 1000);
    await deliver();
    const [{ headers, body } = expect.fail("nothing arrived")] = receiver.received;
    const timestamp = Number(headers["webhook-timestamp"]);
    expect(timestamp).to.be.within(before, Math.floor(Date.now() / 1000));
    const key = Buffer.from("a secret of thirty-two bytes 123");
    const signature = createHmac("sha256", key).update(`${input.notice.id}.${timestamp}.${body}`).digest("base64");
    expect(headers["webhook-signature"]).to.equal(`v1,${signature}`);
    await deliver([oldSecret, secret]);
    expect(receiver.received[1]?.headers["webhook-signature"]).to.match(/^v1,\S{44} v1,\S{44}$/);
  });

  it("signs with every secret, so that the receiver may know the old or the new one", async () => {
    expect(await deliver([oldSecret, secret])).to.deep.equal({ outcome: "DELIVERED" });
    expect(await deliver([secret, oldSecret])).to.deep.equal({ outcome: "DELIVERED" });
    const refused = await failure(deliver([oldSecret]));
    expect(refused.message).to.contain("401");
  });

  it("is tried again after any other answer than 2xx and 410, redirects among them, which are not followed", async () => {
    for (const status of [302, 308, 400, 404, 429, 500, 503]) {
      receiver.status = status;
      const { type, nonRetryable, message } = await failure(deliver());
      expect({ type, nonRetryable }).to.deep.equal({ type: "NOTIFICATION_NOT_DELIVERED", nonRetryable: false });
      expect(message).to.contain(`chat of notifications answered ${status}`);
    }
    expect(receiver.received).to.have.length(7);
  });

  it("is tried no more where a chat refuses it for good, and is where too many were sent", async () => {
    for (const format of ["SLACK", "TEAMS"] as const) {
      const attempt = async (status: number) => {
        const chat = new ChatReceiver(status);
        await chat.start();
        const run = new MockActivityEnvironment().run(() =>
          deliverNotification({ receiver: () => ({ format, url: chat.url }) }, input),
        );
        const outcome = await run.then(
          (result: unknown) => result,
          (error: unknown) => error instanceof ApplicationFailure && [error.type, error.nonRetryable, error.message],
        );
        await chat.stop();
        return outcome;
      };
      expect(await attempt(202)).to.deep.equal({ outcome: "DELIVERED" });
      expect(await attempt(410)).to.deep.equal({ outcome: "GONE" });
      for (const status of [400, 403, 404])
        expect(await attempt(status)).to.deep.equal([
          "NOTIFICATION_REFUSED",
          true,
          `Receiver chat of notifications answered ${status} and will not accept this notification.`,
        ]);
      for (const status of [302, 408, 429, 500, 503])
        expect(String(await attempt(status)), String(status)).to.match(/^NOTIFICATION_NOT_DELIVERED,false,/);
    }
  });

  it("waits as long as a receiver asks for where that is longer than it would wait anyway, half an hour at most", async () => {
    receiver.status = 429;
    const wait = async (retryAfter: string | undefined, attempt = 1) => {
      receiver.headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
      return (await failure(deliver([secret], { info: { attempt } }))).nextRetryDelay;
    };
    expect(await wait("120")).to.equal(120_000);
    expect(await wait("999999")).to.equal(1_800_000);
    expect(await wait(new Date(Date.now() + 600_000).toUTCString())).to.be.within(590_000, 600_000);
    for (const nothing of [undefined, "0", "5", "soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT"])
      expect(await wait(nothing), nothing).to.equal(undefined);
    expect(await wait("120", 6)).to.equal(undefined);
  });

  it("neither waits for nor reads an answer without end", async () => {
    receiver.status = 200;
    receiver.endless = true;
    expect(await deliver()).to.deep.equal({ outcome: "DELIVERED" });
    await receiver.unheard;
  });

  it("tells a receiver that is gone from one that has taken it", async () => {
    receiver.status = 410;
    expect(await deliver()).to.deep.equal({ outcome: "GONE" });
  });

  it("gives up a receiver that does not answer in time, and one that is not there", async () => {
    receiver.status = undefined;
    expect((await failure(deliver([secret], { timeout: 50 }))).message).to.contain("did not answer within 0.05 s");
    await receiver.stop();
    expect((await failure(deliver())).message).to.equal(
      "Receiver chat of notifications is not reachable (ECONNREFUSED).",
    );
  });

  it("says nothing of URL, secret or answer in a failure", async () => {
    receiver.status = 500;
    const answered = await failure(deliver());
    await receiver.stop();
    for (const thrown of [answered, await failure(deliver())]) {
      const told = JSON.stringify([thrown.message, thrown.details, thrown.stack, thrown.cause]);
      for (const hidden of ["t0ken", "127.0.0.1", secret, secret.slice(6), "secret words"])
        expect(told).to.not.contain(hidden);
    }
  });

  it("looks for a receiver that the inventory does not have until all workers may have been started again", async () => {
    const sought = async (minutes: number) => {
      const activity = new MockActivityEnvironment({ scheduledTimestampMs: Date.now() - minutes * 60_000 });
      const { type, nonRetryable } = await failure(
        activity.run(() => deliverNotification({ receiver: () => undefined }, input)),
      );
      expect(type).to.equal("NOTIFICATION_RECEIVER_UNKNOWN");
      return !nonRetryable;
    };
    expect(await sought(1)).to.equal(true);
    expect(await sought(20)).to.equal(false);
  });

  it("does not give up such a receiver sooner because the time of day was set", async () => {
    const real = Date.now.bind(Date);
    const info = { activityId: "sought", scheduledTimestampMs: real() - 60_000 };
    const seek = (attempt: number) =>
      failure(
        new MockActivityEnvironment({ ...info, attempt }).run(() =>
          deliverNotification({ receiver: () => undefined }, input),
        ),
      );
    expect((await seek(1)).nonRetryable).to.equal(false);
    mock.method(Date, "now", () => real() + 5 * 3_600_000);
    try {
      expect((await seek(2)).nonRetryable).to.equal(false);
    } finally {
      mock.restoreAll();
    }
  });

  it("leaves what a stopping worker has not delivered to the next", async () => {
    receiver.status = undefined;
    const activity = new MockActivityEnvironment();
    const run = activity.run(() =>
      deliverNotification({ receiver: () => ({ format: "CLOUDEVENTS", url: receiver.url, secrets: [secret] }) }, input),
    );
    activity.cancel("WORKER_SHUTDOWN");
    const { type, nonRetryable } = await failure(run);
    expect({ type, nonRetryable }).to.deep.equal({ type: "NOTIFICATION_NOT_DELIVERED", nonRetryable: false });
  });

  it("ends at once when it is cancelled", async () => {
    receiver.status = undefined;
    const activity = new MockActivityEnvironment();
    const run = activity.run(() =>
      deliverNotification({ receiver: () => ({ format: "CLOUDEVENTS", url: receiver.url, secrets: [secret] }) }, input),
    );
    activity.cancel("CANCELLED");
    const thrown: unknown = await run.catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(CancelledFailure);
  });
});

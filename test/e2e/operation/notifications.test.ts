import { expect } from "chai";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { WebhookReceiver } from "../../support/webhook-receiver";
import { textOf } from "../../support/text-of";
import { exampleNow } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";

const key = Buffer.from("a secret of thirty-two bytes 123").toString("base64");
const secret = `whsec_${key}`;

describe("notifications of the service", function () {
  this.timeout(180_000);
  const receiver = new WebhookReceiver(secret);
  const config = new ConfigWithReceiver(secret);
  let service: ServiceUnderTest;

  before(async () => {
    await receiver.start();
    config.addReceiver(receiver.url);
    service = await ServiceUnderTest.start({ INVENTORY_FILE: config.inventory });
  });
  after(async () => {
    await service.discard();
    await receiver.stop();
    config.discard();
  });

  const successful = async (id: string) =>
    service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
  /** What was told of an upgrade, in the order of what happened, each once. */
  const toldOf = (id: string) => {
    const mine = receiver.received.filter(({ event }) => event.source === `/v1/upgrades/${id}`);
    const once = new Map(mine.map(({ event }) => [String(event["sequence"]), event.type]));
    return [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, type]) => type);
  };
  const untilTold = (id: string) => until("the receiver was told of both", () => toldOf(id).length === 2);
  const course = ["upgrade.started", "upgrade.successful"];

  it("reach a receiver of the inventory, signed", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await successful(id);
    await untilTold(id);
    expect(toldOf(id)).to.deep.equal(course);
    expect(receiver.refused).to.deep.equal([]);
  });

  it("wait for a receiver that is dead while the upgrade ends, also over the end of a worker, and tell no secret", async () => {
    await service.resetSimulator();
    await receiver.stop();
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await successful(id);
    const workflowId = `notify/${id}`;
    const status = () =>
      service.withTemporal(async (client) => (await client.workflow.getHandle(workflowId).describe()).status.name);
    expect(await status()).to.equal("RUNNING");
    await service.killAndAwaitSuccessor("worker");
    await receiver.start();
    await untilTold(id);
    expect(toldOf(id)).to.deep.equal(course);
    await until("their Workflow has ended", async () => (await status()) === "COMPLETED");
    const histories = await service.withTemporal(async (client) =>
      Promise.all([id, workflowId].map(async (one) => textOf(await client.workflow.getHandle(one).fetchHistory()))),
    );
    for (const history of histories) expect(history).to.contain("chat");
    const logs = (["worker", "api"] as const).map((role) => JSON.stringify(service.log(role)));
    expect(logs[0]).to.contain("NOTIFICATION_NOT_DELIVERED");
    for (const text of [...histories, ...logs, service.printed])
      for (const hidden of [key, receiver.url, "t0ken"]) expect(text).to.not.contain(hidden);
  });
});

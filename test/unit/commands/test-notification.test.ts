import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { isLeft } from "fp-ts/Either";
import { testNotificationCommand } from "../../../src/commands/test-notification";
import { readConfig } from "../../../src/config";
import { WebhookReceiver } from "../../support/webhook-receiver";

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;

describe("test-notification", () => {
  const folder = mkdtempSync(join(tmpdir(), "ums-test-notification-"));
  const inventory = join(folder, "inventory.yaml");
  let receiver: WebhookReceiver;

  beforeEach(async () => {
    receiver = new WebhookReceiver(secret);
    await receiver.start();
    const example = readFileSync(resolve(__dirname, "../../../config/inventory.yaml"), "utf8");
    const entry = `{id: chat, url: "${receiver.url}", secretVariable: CHAT_SECRET}`;
    writeFileSync(inventory, `${example}\nnotificationReceivers: [${entry}]\n`);
    for (const file of ["simulator-password.txt", "temporary-root-password.txt"])
      writeFileSync(join(folder, file), readFileSync(resolve(__dirname, "../../../config", file)));
  });
  afterEach(() => receiver.stop());
  after(() => rmSync(folder, { recursive: true }));

  async function run(args: readonly string[], environment: NodeJS.ProcessEnv = { CHAT_SECRET: secret }) {
    const config = readConfig({ INVENTORY_FILE: inventory, ...environment });
    if (isLeft(config)) throw new Error(config.left.join("\n"));
    const [output, errors] = [new PassThrough(), new PassThrough()];
    const code = await testNotificationCommand(config.right, args, { output, errors });
    return { code, out: String(output.read() ?? ""), err: String(errors.read() ?? "") };
  }

  it("sends a signed event that is no notification of an upgrade, and says that it was taken", async () => {
    expect(await run(["chat"])).to.deep.equal({
      code: 0,
      out: "Receiver chat answered 204: it accepted the test.\n",
      err: "",
    });
    expect(receiver.received.map(({ event }) => event.type)).to.deep.equal(["notification.test"]);
    await run(["chat"]);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).to.equal(2);
  });

  it("says what the receiver answers where it does not take it, or that it is not reachable, and no URL", async () => {
    receiver.status = 410;
    expect(await run(["chat"])).to.include({
      code: 1,
      err: "Receiver chat answered 410: it did not accept the test.\n",
    });
    await receiver.stop();
    expect(await run(["chat"])).to.include({ code: 1, err: "Receiver chat is not reachable (ECONNREFUSED).\n" });
  });

  it("names the receivers that there are, and what is wrong with the inventory", async () => {
    for (const args of [[], ["pager"]])
      expect(await run(args)).to.include({
        code: 2,
        err: "Name one of the inventory's notification receivers: chat.\n",
      });
    const { code, err } = await run(["chat"], {});
    expect(code).to.equal(1);
    expect(err).to.contain("CHAT_SECRET, the secret of notification receiver chat, is not set.");
  });
});

import { expect } from "chai";
import { ChatReceiver } from "../../support/chat-receiver";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { MailServer } from "../../support/mail-server";
import { secretScan } from "../../support/secret-scan";
import { exampleNow } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";
import { textOf } from "../../support/text-of";

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;
const account = { username: "upgrades", password: "Zebra-of-the-mail-4711" };
const publicUrl = "https://upgrades.example.com";

describe("notifications of the service for people", function () {
  this.timeout(180_000);
  const mail = new MailServer("STARTTLS", account);
  const [slack, teams] = [new ChatReceiver(200), new ChatReceiver(202)];
  const config = new ConfigWithReceiver(secret);
  let service: ServiceUnderTest;

  before(async () => {
    await Promise.all([mail.start(), slack.start(), teams.start()]);
    config.write("mail-password.txt", `${account.password}\n`);
    config.write("slack-url.txt", `${slack.url}\n`);
    const smtp = { host: "localhost", port: mail.port, username: account.username, passwordFile: "mail-password.txt" };
    config.addReceivers([
      { id: "mail", format: "EMAIL", smtp, from: "Upgrades <upgrades@example.com>", to: ["ops@example.com"] },
      { id: "slack", format: "SLACK", urlFile: "slack-url.txt" },
      { id: "teams", format: "TEAMS", urlVariable: "TEAMS_URL" },
    ]);
    service = await ServiceUnderTest.start({
      INVENTORY_FILE: config.inventory,
      PUBLIC_URL: `${publicUrl}/`,
      TEAMS_URL: teams.url,
      NODE_EXTRA_CA_CERTS: config.write("mail-ca.pem", mail.certificate),
      LOG_LEVEL: "trace",
    });
  });
  after(async () => {
    await service.discard();
    await Promise.all([mail.stop(), slack.stop(), teams.stop()]);
    config.discard();
  });

  it("reach a mail server by TLS with credentials, Slack and Teams, with a link to the console and no secret", async () => {
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    await until("all three were told of both", () =>
      [mail, slack, teams].every(({ received }) => received.length === 2),
    );
    const link = `${publicUrl}/#/upgrades/${id}`;
    expect(mail.received.map(({ email: { subject } }) => subject?.split(":")[0])).to.deep.equal([
      "Started",
      "Successful",
    ]);
    for (const [i, { email, secure, user }] of mail.received.entries()) {
      expect({ secure, user }).to.deep.equal({ secure: true, user: account.username });
      expect(email.messageId).to.equal(`<${id}-${i + 1}@example.com>`);
      expect(email.text).to.contain(link);
    }
    for (const message of [...slack.received, ...teams.received]) expect(JSON.stringify(message)).to.contain(link);

    const workflowId = `notify/${id}`;
    const histories = await service.withTemporal(async (client) =>
      Promise.all([id, workflowId].map(async (one) => textOf(await client.workflow.getHandle(one).fetchHistory()))),
    );
    const logs = (["worker", "api"] as const).map((role) => JSON.stringify(service.log(role)));
    const scan = secretScan({ password: account.password, "a chat's URL": "/services/T000/B000/t0ken" });
    for (const text of [...histories, ...logs, service.printed]) expect(scan(text)).to.deep.equal([]);
  });

  it("that a chat refuses for good are given up at once, and the upgrade and the others go on", async () => {
    await service.resetSimulator();
    slack.status = 404;
    const [before] = [teams.received.length];
    const { id } = await service.startUpgrade(exampleNow("cluster-draft"));
    await service.taskWhen(id, "is successful", ({ status }) => status === "Successful");
    await until("Teams was told of both", () => teams.received.length === before + 2);
    const result = await service.withTemporal((client) => client.workflow.getHandle(`notify/${id}`).result());
    expect(result).to.deep.equal({ delivered: 4, givenUp: 2 });
    expect(JSON.stringify(service.log("worker"))).to.contain("NOTIFICATION_REFUSED");
  });
});

import { expect } from "chai";
import { notificationMessage } from "../../../activities/notifications/notification-message";
import { sendNotification, type SendOptions } from "../../../activities/notifications/send-notification";
import type { MailChannel } from "../../../src/domain/notifications/notification-channel";
import type { UpgradeNotification } from "../../../src/domain/notifications/upgrade-notification";
import { MailServer } from "../../support/mail-server";
import { sampleNotification } from "../../support/sample-notification";

const account = { username: "upgrades", password: "pass w0rd" };
const ops = { name: "", address: "ops@example.com" };
const duty = { name: "On duty", address: "duty@example.com" };

describe("E-mail to a receiver", () => {
  let server: MailServer | undefined;
  afterEach(() => server?.stop());

  async function start(...args: ConstructorParameters<typeof MailServer>): Promise<MailServer> {
    server = new MailServer(...args);
    await server.start();
    return server;
  }

  const send = (
    to: MailServer,
    about: Partial<MailChannel["smtp"]> = {},
    { notice = sampleNotification(), ...options }: SendOptions & { notice?: UpgradeNotification } = {},
  ) =>
    sendNotification(
      {
        format: "EMAIL",
        smtp: { host: "localhost", port: to.port, tls: to.tls, ...about },
        from: { name: "Upgrades", address: "upgrades@example.com" },
        to: [ops, duty],
      },
      notificationMessage(notice),
      { authorities: to.certificate, ...options },
    );

  for (const tls of ["STARTTLS", "IMPLICIT"] as const)
    it(`is sent with ${tls} and credentials`, async () => {
      const mail = await start(tls, account);
      expect(await send(mail, { credentials: account })).to.deep.equal({
        verdict: "TAKEN",
        what: "answered 250",
        status: 250,
      });
      const [{ from, to, secure, user } = expect.fail("nothing arrived")] = mail.received;
      expect({ from, to, secure, user }).to.deep.equal({
        from: "upgrades@example.com",
        to: [ops.address, duty.address],
        secure: true,
        user: "upgrades",
      });
    });

  it("says in plain text what happened, what is wanted, and where the upgrade is", async () => {
    const mail = await start("NONE");
    const link = "https://upgrades.example.com/#/upgrades/0d5c6d0e-0000-4000-8000-000000000001";
    const data = { link, wanted: "RESUME", requestedBy: "bob" } as const;
    await send(mail, {}, { notice: sampleNotification("upgrade.paused", data) });
    const [{ email } = expect.fail("nothing arrived")] = mail.received;
    expect(email.subject).to.equal("Paused: Upgrade Zürich to 9.0.2");
    expect(email.from).to.deep.include({ name: "Upgrades", address: "upgrades@example.com" });
    expect(email.to).to.deep.equal([
      { name: "", address: ops.address },
      { name: "On duty", address: duty.address },
    ]);
    expect(email.html).to.equal(undefined);
    expect(email.text?.split("\n").filter((one) => one !== "")).to.deep.equal([
      "Paused: Upgrade Zürich to 9.0.2",
      "Resume the upgrade, or cancel it.",
      link,
      "Requested by: bob",
      "Time: 2026-11-01 10:00:00 UTC",
      "Id: 0d5c6d0e-0000-4000-8000-000000000001",
    ]);
    expect(email.headers.find(({ key }) => key === "auto-submitted")?.value).to.equal("auto-generated");
  });

  it("has the same Message-ID, Date and thread at every attempt", async () => {
    const mail = await start("NONE");
    await send(mail);
    await send(mail);
    const headers = mail.received.map(({ email: { messageId, date, references } }) => ({
      messageId,
      date,
      references,
    }));
    expect(headers[0]).to.deep.equal({
      messageId: "<0d5c6d0e-0000-4000-8000-000000000001-7@example.com>",
      date: "2026-11-01T10:00:00.000Z",
      references: "<0d5c6d0e-0000-4000-8000-000000000001@example.com>",
    });
    expect(headers[1]).to.deep.equal(headers[0]);
  });

  it("lets no name add a header, a recipient or a line to the message", async () => {
    const mail = await start("NONE");
    const name = "x\r\nBcc: evil@example.com\r\n\r\n.\r\nMAIL FROM:<evil@example.com>";
    const data = { name, requestedBy: name, createdBy: name, errors: [{ message: name }] };
    await send(mail, {}, { notice: sampleNotification("upgrade.failed", data) });
    expect(mail.received).to.have.length(1);
    const [{ email, to } = expect.fail("nothing arrived")] = mail.received;
    expect(to).to.deep.equal([ops.address, duty.address]);
    expect(email.bcc).to.equal(undefined);
    expect(email.headers.map(({ key }) => key)).to.not.include("bcc");
    expect(email.subject).to.equal(
      "Failed: x Bcc: evil@example.com .  MAIL FROM:<evil@example.com>".replace(".  ", ". "),
    );
    expect(email.text?.split("\n")).to.not.include(".");
  });

  it("is refused for good by a reply 5xx to the message, its sender or all of its recipients", async () => {
    const mail = await start("NONE");
    for (const refusals of [
      { sender: 550 },
      { recipients: { [ops.address]: 550, [duty.address]: 553 } },
      { message: 554 },
    ]) {
      mail.refusals = refusals;
      expect((await send(mail)).verdict, JSON.stringify(refusals)).to.equal("REFUSED");
    }
    expect(mail.received).to.deep.equal([]);
  });

  it("may be taken later after a reply 4xx", async () => {
    const mail = await start("NONE");
    for (const refusals of [
      { sender: 421 },
      { recipients: { [ops.address]: 450, [duty.address]: 450 } },
      { message: 452 },
    ]) {
      mail.refusals = refusals;
      expect((await send(mail)).verdict, JSON.stringify(refusals)).to.equal("LATER");
    }
    expect(mail.received).to.deep.equal([]);
  });

  it("is taken where one address is, and says how many are not", async () => {
    const mail = await start("NONE");
    mail.refusals = { recipients: { [duty.address]: 550 } };
    expect(await send(mail)).to.deep.equal({
      verdict: "TAKEN",
      what: "answered 250, but not for 1 of 2 addresses",
      status: 250,
      addressesRefused: 1,
    });
  });

  it("is tried again where the credentials are refused, which an operator can mend", async () => {
    const mail = await start("STARTTLS", account);
    const answer = await send(mail, { credentials: { ...account, password: "wrong" } });
    expect(answer).to.deep.equal({ verdict: "LATER", what: "rejected the credentials", status: 535 });
    expect(mail.wrongPasswords).to.equal(1);
  });

  it("goes to no server that offers no TLS or that nobody vouches for, and nor do the credentials", async () => {
    const plain = await start("NONE", account);
    expect(await send(plain, { tls: "STARTTLS", credentials: account })).to.include({ verdict: "LATER" });
    expect(plain.received).to.deep.equal([]);
    await plain.stop();
    const strange = await start("STARTTLS", account);
    const other = new MailServer("NONE");
    await other.start();
    const answer = await send(strange, { credentials: account }, { authorities: other.certificate });
    await other.stop();
    expect(answer.verdict).to.equal("LATER");
    expect(strange.received).to.deep.equal([]);
    expect(strange.wrongPasswords).to.equal(0);
  });

  it("is given up for now where the server does not answer in time, or is not there", async () => {
    const mail = await start("NONE");
    mail.mute = true;
    expect(await send(mail, {}, { timeout: 300 })).to.deep.equal({
      verdict: "LATER",
      what: "did not answer within 0.3 s",
    });
    await mail.stop();
    const gone = await send(mail);
    expect(gone).to.deep.equal({ verdict: "LATER", what: "is not reachable (ECONNREFUSED)" });
  });

  it("says nothing of the server, its words or the credentials", async () => {
    const mail = await start("STARTTLS", account);
    const answers = [await send(mail, { credentials: { ...account, password: "wr0ng" } })];
    mail.refusals = { message: 554 };
    answers.push(await send(mail, { credentials: account }));
    await mail.stop();
    answers.push(await send(mail, { credentials: account }));
    for (const hidden of ["localhost", "127.0.0.1", "10.1.2.3", "secret words", "pass w0rd", "wr0ng", "example.com"])
      expect(JSON.stringify(answers)).to.not.contain(hidden);
  });
});

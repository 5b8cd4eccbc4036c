import { expect } from "chai";
import { notificationReceivers } from "../../../src/inventory/notification-receivers";
import { secretReader } from "../../../src/inventory/read-secret";

const key = Buffer.from("a secret of thirty-two bytes 123").toString("base64");
const secret = `whsec_${key}`;
const receiver = { id: "chat", url: "https://chat.example.com/hooks/1", secretVariable: "SECRET" };

function read(receivers: Parameters<typeof notificationReceivers>[0], value = secret) {
  const problems: string[] = [];
  const entries = notificationReceivers(receivers, secretReader("/nowhere", { SECRET: value }), problems);
  return { problems, entries: [...entries.values()] };
}

describe("notificationReceivers", () => {
  it("reads a receiver that is told everything for a day", () => {
    expect(read([receiver])).to.deep.equal({
      problems: [],
      entries: [{ id: "chat", format: "CLOUDEVENTS", url: receiver.url, retryHours: 24, secrets: [secret] }],
    });
  });

  it("reads its events, its hours and several secrets", () => {
    const events: "upgrade.failed"[] = ["upgrade.failed"];
    const { problems, entries } = read([{ ...receiver, events, retryHours: 2 }], `${secret}\n${secret}\n`);
    expect(problems).to.deep.equal([]);
    expect(entries[0]).to.deep.include({ events, retryHours: 2, secrets: [secret, secret] });
  });

  it("refuses http where somebody on the way could listen, unless the operator allows it", () => {
    const at = (url: string, allowHttp?: boolean) =>
      read([{ ...receiver, url, ...(allowHttp !== undefined && { allowHttp }) }]).problems;
    for (const url of [
      "http://127.0.0.1:8080/hooks/1",
      "http://127.1.2.3/",
      "http://[::1]:1/",
      "http://localhost/h?k=v",
    ])
      expect(at(url), url).to.deep.equal([]);
    for (const url of [
      "http://chat.example.com/t0ken",
      "http://127.0.0.1.example.com/t0ken",
      "http://10.0.0.1/t0ken",
    ]) {
      expect(at(url), url).to.deep.equal([
        "The url of notification receiver chat begins with http://, which others on the network can read: use https://, or set allowHttp.",
      ]);
      expect(at(url, true), url).to.deep.equal([]);
    }
    expect(at("file:///etc/passwd", true)).to.have.length(1);
  });

  it("refuses more receivers than an upgrade has room for", () => {
    const receivers = Array.from({ length: 21 }, (_, i) => ({ ...receiver, id: `chat-${i}` }));
    expect(read(receivers).problems).to.deep.equal(["There are more than 20 notification receivers."]);
    expect(read(receivers.slice(1)).problems).to.deep.equal([]);
  });

  it("says everything that is wrong with receivers, without their secrets and URLs", () => {
    const wrong = [
      { ...receiver, url: "ftp://chat.example.com" },
      { ...receiver, id: "a b", url: "https://user:pass@chat.example.com" },
      { id: "none", url: receiver.url },
      { ...receiver, id: "unset", secretVariable: "OTHER" },
      { ...receiver, id: "empty", events: [] },
    ];
    expect(read([receiver, ...wrong]).problems).to.deep.equal([
      "Notification receiver chat occurs twice.",
      "The url of notification receiver chat must begin with https:// and contain neither user nor password.",
      "The id of notification receiver a b must be 1 to 100 letters, digits, dots, hyphens and underscores.",
      "The url of notification receiver a b must begin with https:// and contain neither user nor password.",
      "The notification receiver none has neither secretFile nor secretVariable.",
      "OTHER, the secret of notification receiver unset, is not set.",
      "The events of notification receiver empty are empty: name some, or remove the field.",
    ]);
  });

  for (const value of [key, "whsec_", "whsec_c2hvcnQ=", `whsec_${key}!`, `${secret}\nshort`])
    it(`refuses a secret that Standard Webhooks does not know: ${value.replace(key, "KEY").replace("\n", " ")}`, () => {
      const { problems } = read([receiver], value);
      expect(problems).to.deep.equal([
        "The secret of notification receiver chat must be whsec_ and 24 to 64 bytes in base64; write several one per line.",
      ]);
    });
});

describe("notificationReceivers of chats and mail servers", () => {
  const slack = { id: "slack", format: "SLACK", urlVariable: "SLACK_URL" } as const;
  const smtp = { host: "mail.example.com", username: "upgrades", passwordVariable: "MAIL_PASSWORD" };
  const mail = {
    id: "mail",
    format: "EMAIL",
    smtp,
    from: "Upgrades <u@example.com>",
    to: ["ops@example.com"],
  } as const;
  const environment = { SLACK_URL: "https://hooks.slack.example.com/services/T/B/t0ken", MAIL_PASSWORD: "pass w0rd" };

  function readAll(receivers: readonly object[]) {
    const problems: string[] = [];
    const given = receivers as Parameters<typeof notificationReceivers>[0];
    const entries = notificationReceivers(given, secretReader("/nowhere", environment), problems);
    return { problems, entries: [...entries.values()] };
  }

  it("reads the URL of a chat, which is a secret, from where a secret may be", () => {
    expect(readAll([slack, { ...slack, id: "teams", format: "TEAMS", events: ["upgrade.failed"] }])).to.deep.equal({
      problems: [],
      entries: [
        { id: "slack", format: "SLACK", url: environment.SLACK_URL, retryHours: 24 },
        { id: "teams", format: "TEAMS", url: environment.SLACK_URL, retryHours: 24, events: ["upgrade.failed"] },
      ],
    });
  });

  it("reads a mail server with STARTTLS by default, and the usual port of each kind of TLS", () => {
    const { problems, entries } = readAll([mail]);
    expect(problems).to.deep.equal([]);
    expect(entries).to.deep.equal([
      {
        id: "mail",
        format: "EMAIL",
        retryHours: 24,
        smtp: {
          host: "mail.example.com",
          port: 587,
          tls: "STARTTLS",
          credentials: { username: "upgrades", password: "pass w0rd" },
        },
        from: { name: "Upgrades", address: "u@example.com" },
        to: [{ name: "", address: "ops@example.com" }],
      },
    ]);
    const port = (about: object) => {
      const [entry] = readAll([{ ...mail, smtp: { host: "127.0.0.1", ...about } }]).entries;
      return entry?.format === "EMAIL" ? entry.smtp.port : undefined;
    };
    expect([port({ tls: "IMPLICIT" }), port({ tls: "NONE" }), port({ tls: "NONE", port: 1025 })]).to.deep.equal([
      465, 25, 1025,
    ]);
  });

  it("refuses mail that anybody on the way can read, unless the operator allows it, and then without a password", () => {
    const problems = (about: object) =>
      readAll([{ ...mail, smtp: { host: "mail.example.com", tls: "NONE", ...about } }]).problems;
    expect(problems({})).to.deep.equal([
      "The smtp.tls of notification receiver mail is NONE, so others on the network can read mail: use STARTTLS or IMPLICIT, or set allowPlaintext.",
    ]);
    expect(problems({ allowPlaintext: true })).to.deep.equal([]);
    expect(problems({ host: "127.0.0.1", ...{ username: "u", passwordVariable: "MAIL_PASSWORD" } })).to.deep.equal([]);
    expect(problems({ allowPlaintext: true, username: "u", passwordVariable: "MAIL_PASSWORD" })).to.deep.equal([
      "The smtp of notification receiver mail has a username, which is sent with TLS only.",
    ]);
  });

  it("refuses what is no address, and what could begin another header", () => {
    for (const from of [
      "",
      "ops",
      "ops@",
      "a b@example.com",
      "x@example.com\r\nBcc: y@example.com",
      "a, b@example.com",
      "ö@example.com",
    ])
      expect(readAll([{ ...mail, from }]).problems, from).to.deep.equal([
        "The from of notification receiver mail must be one e-mail address.",
      ]);
    for (const to of [[], ["ops"], Array.from({ length: 21 }, () => "ops@example.com"), ["a\n <ops@example.com>"]])
      expect(readAll([{ ...mail, to }]).problems).to.deep.equal([
        "The to of notification receiver mail must be 1 to 20 e-mail addresses.",
      ]);
  });

  it("says everything that is wrong, without URL and password", () => {
    const wrong = [
      { ...slack, secretVariable: "SLACK_URL" },
      { id: "twice", format: "SLACK", url: environment.SLACK_URL, urlVariable: "SLACK_URL" },
      { id: "none", format: "TEAMS" },
      { id: "unset", format: "TEAMS", urlVariable: "OTHER" },
      { id: "no-smtp", format: "EMAIL", from: mail.from, to: mail.to },
      { ...mail, id: "no-password", smtp: { host: "h", username: "u" } },
      { ...mail, id: "no-user", smtp: { host: "h", passwordVariable: "MAIL_PASSWORD" } },
      { ...mail, id: "host", smtp: { host: "smtp://h" } },
      { ...mail, id: "url", url: environment.SLACK_URL },
    ];
    const { problems } = readAll(wrong);
    expect(problems).to.deep.equal([
      "The field secretVariable of notification receiver slack does not belong to the format SLACK.",
      "The notification receiver twice has its URL twice: remove url, or urlFile and urlVariable.",
      "The notification receiver none has neither url, urlFile nor urlVariable.",
      "OTHER, the url of notification receiver unset, is not set.",
      "The notification receiver no-smtp has no smtp.",
      "The notification receiver no-password has neither smtp.passwordFile nor smtp.passwordVariable.",
      "The smtp of notification receiver no-user has a password without a username.",
      "The smtp.host of notification receiver host must be a host name or an address.",
      "The field url of notification receiver url does not belong to the format EMAIL.",
    ]);
    for (const hidden of ["t0ken", "pass w0rd"]) expect(problems.join()).to.not.contain(hidden);
  });
});

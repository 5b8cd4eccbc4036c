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
      entries: [{ id: "chat", url: receiver.url, retryHours: 24, secrets: [secret] }],
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
        "The url of notification receiver chat begins with http://, which anybody on the way can read: use https://, or set allowHttp.",
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
      "Notification receiver chat is there twice.",
      "The url of notification receiver chat must begin with https:// and hold neither user nor password.",
      "The id of notification receiver a b must be 1 to 100 letters, digits, dots, hyphens and underscores.",
      "The url of notification receiver a b must begin with https:// and hold neither user nor password.",
      "The notification receiver none has neither secretFile nor secretVariable.",
      "OTHER, the secret of notification receiver unset, is not set.",
      "The events of notification receiver empty are empty: name some, or leave the field out.",
    ]);
  });

  for (const value of [key, "whsec_", "whsec_c2hvcnQ=", `whsec_${key}!`, `${secret}\nshort`])
    it(`refuses a secret that Standard Webhooks does not know: ${value.replace(key, "KEY").replace("\n", " ")}`, () => {
      const { problems } = read([receiver], value);
      expect(problems).to.deep.equal([
        "The secret of notification receiver chat must be whsec_ and 24 to 64 bytes in base64; several are one a line.",
      ]);
    });
});

import { expect } from "chai";
import { slackMessage, teamsMessage } from "../../../activities/notifications/chat-messages";
import { notificationText, type NotificationText } from "../../../src/domain/notifications/notification-text";
import { sampleNotification } from "../../support/sample-notification";

const hostile = "<!channel> <https://evil.example.com|Click> [Click](https://evil.example.com) <at>all</at> @here & co";

const text = (about: Partial<NotificationText> = {}): NotificationText => ({
  title: "Failed: Upgrade Zürich to 9.0.2",
  facts: [{ label: "Requested by", value: "bob" }],
  errors: ["Host esx-01 failed."],
  wanted: "Retry the upgrade.",
  link: "https://upgrades.example.com/#/upgrades/1",
  ...about,
});

/** All texts of a message, each with its object. */
function objectsOf(value: unknown): Record<string, unknown>[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  return [...own, ...Object.values(value).flatMap(objectsOf)];
}

describe("slackMessage", () => {
  it("is a text for previews, and blocks with facts, errors, what is wanted and the link", () => {
    expect(slackMessage(text())).to.deep.equal({
      text: "Failed: Upgrade Zürich to 9.0.2",
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        { type: "section", text: { type: "mrkdwn", verbatim: true, text: "*Failed: Upgrade Zürich to 9.0.2*" } },
        { type: "section", fields: [{ type: "mrkdwn", verbatim: true, text: "*Requested by*\nbob" }] },
        { type: "section", text: { type: "mrkdwn", verbatim: true, text: "Host esx-01 failed." } },
        { type: "section", text: { type: "mrkdwn", verbatim: true, text: "*Retry the upgrade.*" } },
        {
          type: "section",
          text: {
            type: "mrkdwn",
            verbatim: true,
            text: "<https://upgrades.example.com/#/upgrades/1|Open the upgrade>",
          },
        },
      ],
    });
  });

  it("lets no name alert a channel or make a link", () => {
    const message = slackMessage(
      text({ title: hostile, facts: [{ label: "By", value: hostile }], errors: [hostile], wanted: hostile }),
    );
    const told = JSON.stringify(message).replaceAll("<https://upgrades.example.com/#/upgrades/1|Open the upgrade>", "");
    expect(told).to.not.match(/[<>]/);
    expect(told).to.not.contain("@here");
    expect(told).to.contain("&lt;!channel&gt;");
    expect(told).to.contain("&amp; co");
    for (const part of objectsOf(message)) if (part["type"] === "mrkdwn") expect(part["verbatim"]).to.equal(true);
    for (const word of ["@channel", "@HERE", "@everyone", "@group"])
      expect(JSON.stringify(slackMessage(text({ title: word })))).to.not.contain(word);
    expect(JSON.stringify(slackMessage(text({ title: "a@hereford.example.com" })))).to.contain("a@hereford");
  });

  it("stays within Slack's limits: ten fields a section, 3,000 characters a text, 2,000 a field", () => {
    const longest = "&".repeat(1000);
    const told = notificationText(
      sampleNotification("upgrade.failed", { name: longest, requestedBy: longest, errors: [{ message: longest }] }),
    );
    const [fact = expect.fail("no fact")] = told.facts;
    const message = slackMessage({ ...told, facts: Array.from({ length: 12 }, () => fact) }) as {
      blocks: Record<string, unknown>[];
    };
    const sections = message.blocks.filter(({ fields }) => fields !== undefined);
    expect(sections.map(({ fields }) => (fields as unknown[]).length)).to.deep.equal([10, 2]);
    expect(message.blocks.length).to.be.at.most(50);
    for (const { fields, text: one } of message.blocks as { fields?: { text: string }[]; text?: { text: string } }[]) {
      for (const field of fields ?? []) expect(field.text.length).to.be.at.most(2000);
      if (one) expect(one.text.length).to.be.at.most(3000);
    }
  });
});

describe("teamsMessage", () => {
  it("is a message with one Adaptive Card that opens the upgrade", () => {
    const message = teamsMessage(text()) as {
      attachments: { contentType: string; content: Record<string, unknown> }[];
    };
    expect(message).to.include({ type: "message" });
    const [{ contentType, content } = expect.fail("no card")] = message.attachments;
    expect(contentType).to.equal("application/vnd.microsoft.card.adaptive");
    expect(content).to.include({ type: "AdaptiveCard", version: "1.4" });
    expect(content["actions"]).to.deep.equal([
      { type: "Action.OpenUrl", title: "Open the upgrade", url: "https://upgrades.example.com/#/upgrades/1" },
    ]);
    const texts = objectsOf(content).flatMap(({ type, text: one }) => (type === "TextRun" ? [one] : []));
    expect(texts).to.deep.equal([
      "Failed: Upgrade Zürich to 9.0.2",
      "Requested by: ",
      "bob",
      "Host esx-01 failed.",
      "Retry the upgrade.",
    ]);
  });

  it("has text in runs only, which are no Markdown, and no entities, which mentions need", () => {
    const message = teamsMessage(
      text({ title: hostile, facts: [{ label: "By", value: hostile }], errors: [hostile], wanted: hostile }),
    );
    const objects = objectsOf(message);
    for (const part of objects) if (typeof part["text"] === "string") expect(part["type"]).to.equal("TextRun");
    expect(objects.some((part) => "entities" in part)).to.equal(false);
    expect(objects.flatMap(({ url }) => (url === undefined ? [] : [url]))).to.deep.equal([
      "https://upgrades.example.com/#/upgrades/1",
    ]);
  });

  it("has no action without a link", () => {
    const { link: _, ...without } = text();
    expect(JSON.stringify(teamsMessage(without))).to.not.contain("actions");
  });
});

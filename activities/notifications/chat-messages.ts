import type { NotificationText } from "../../src/domain/notifications/notification-text";

const label = "Open the upgrade";

/**
 * A message of Slack's incoming webhooks, in blocks. Names come from elsewhere: `&`, `<` and `>` are escaped, so that no
 * `<!channel>` or link is made of them, and `verbatim` keeps Slack from looking for mentions and links in the rest
 * (https://docs.slack.dev/messaging/formatting-message-text#escaping).
 */
export function slackMessage({ title, facts, errors, wanted, link }: NotificationText): object {
  return {
    text: slackText(title),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      section(`*${slackText(title)}*`),
      // Ten at most in a section.
      ...inTens(facts).map((some) => ({
        type: "section",
        fields: some.map(({ label: name, value }) => markup(`*${name}*\n${slackText(value)}`)),
      })),
      ...errors.map((error) => section(slackText(error))),
      ...(wanted === undefined ? [] : [section(`*${slackText(wanted)}*`)]),
      // No button: Slack warns of buttons whose app answers no clicks.
      ...(link === undefined ? [] : [section(`<${slackText(link)}|${label}>`)]),
    ],
  };
}

function section(text: string) {
  return { type: "section", text: markup(text) };
}

function markup(text: string) {
  return { type: "mrkdwn", text, verbatim: true };
}

/** Text in which Slack finds neither markup of its own nor somebody to alert. */
function slackText(text: string): string {
  return (
    text
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      // Some workspaces link names; a word joiner does not show and ends the word.
      .replace(/@(?=channel\b|here\b|everyone\b|group\b)/gi, "@\u2060")
  );
}

function inTens<A>(all: readonly A[]): A[][] {
  return Array.from({ length: Math.ceil(all.length / 10) }, (_, i) => all.slice(i * 10, i * 10 + 10));
}

/**
 * A message with an Adaptive Card, as the trigger "When a Teams webhook request is received" of Workflows takes it. What
 * comes from elsewhere is in text runs, which are not Markdown; mentions need entities, which the card does not have
 * (https://adaptivecards.io/explorer/TextRun.html).
 */
export function teamsMessage({ title, facts, errors, wanted, link }: NotificationText): object {
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      paragraph([{ text: title, weight: "Bolder", size: "Medium" }]),
      ...facts.map(({ label: name, value }) => paragraph([{ text: `${name}: `, weight: "Bolder" }, { text: value }])),
      ...errors.map((text) => paragraph([{ text, color: "Attention" }])),
      ...(wanted === undefined ? [] : [paragraph([{ text: wanted, weight: "Bolder" }])]),
    ],
    ...(link !== undefined && { actions: [{ type: "Action.OpenUrl", title: label, url: link }] }),
    msteams: { width: "Full" },
  };
  const contentType = "application/vnd.microsoft.card.adaptive";
  return { type: "message", attachments: [{ contentType, contentUrl: null, content }] };
}

interface TextRun {
  readonly text: string;
  readonly weight?: "Bolder";
  readonly size?: "Medium";
  readonly color?: "Attention";
}

function paragraph(runs: readonly TextRun[]) {
  return { type: "RichTextBlock", inlines: runs.map((run) => ({ type: "TextRun", ...run })) };
}

import * as t from "io-ts";
import { TextsByName, TextThat } from "../codec";

/** Characters that no reason has: those that steer a terminal, break a line, turn the direction of a text or do not show. */
const unprintable =
  "\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060\\u2066-\\u2069\\ufeff";

/** Halves of characters, which a pattern of the document cannot name. */
const halves = /\p{Surrogate}/u;

function textOf(expected: string, pattern: string, maxLength: number) {
  const expression = new RegExp(pattern, "u");
  return TextThat(
    expected,
    { minLength: 1, maxLength, pattern },
    (text) =>
      text.length <= 2 * maxLength &&
      Array.from(text).length <= maxLength &&
      expression.test(text) &&
      !halves.test(text),
  );
}

/** Why something is done, on one line. */
export const Reason = textOf(
  "1 to 1024 printable characters on one line",
  `^ *[^ ${unprintable}][^${unprintable}]*$`,
  1024,
);

/** The id of a change record in somebody's own system. Without spaces, so that it is one word of a search. */
export const ChangeId = textOf(
  "1 to 64 letters, digits and ._:/#- without spaces, beginning with a letter or digit",
  "^[A-Za-z0-9][A-Za-z0-9._:/#-]{0,63}$",
  64,
);

const labelName = "[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?";
const labelValue = "[A-Za-z0-9](?:[A-Za-z0-9 ._:/@+-]{0,61}[A-Za-z0-9])?";

const LabelName = textOf(
  "a name of 1 to 63 letters, digits and ._/-, with a letter or digit at both ends",
  `^${labelName}$`,
  63,
);

const LabelValue = textOf(
  "1 to 63 letters, digits, spaces and ._:/@+-, with a letter or digit at both ends",
  `^${labelValue}$`,
  63,
);

/** All labels of one upgrade fit into one search attribute (2,048 bytes) together. */
export const Labels = TextsByName("labels, each a text by its name", { name: LabelName, value: LabelValue, most: 15 });

/** One label, as it is looked for: `name=value`. */
export const LabelText = textOf("a label as name=value", `^${labelName}=${labelValue}$`, 127);

/** What somebody says of an upgrade for people and for other systems; nothing depends on it. */
export const changeRecordFields = { reason: Reason, changeId: ChangeId, labels: Labels };

export interface ChangeRecord {
  readonly reason?: string;
  readonly changeId?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The same in answers, which take whatever was accepted once. */
export const toldChangeRecord = { reason: t.string, changeId: t.string, labels: t.record(t.string, t.string) };

/** The fields of a change record alone. */
export function changeRecordOf({ reason, changeId, labels }: ChangeRecord): ChangeRecord {
  return {
    ...(reason !== undefined && { reason }),
    ...(changeId !== undefined && { changeId }),
    ...(labels && Object.keys(labels).length > 0 && { labels }),
  };
}

/** Labels as they are written, `name=value`, by their names. */
export function labelTexts(labels: ChangeRecord["labels"]): string[] {
  return Object.entries(labels ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .sort();
}

/** Name and value of a label as it is written; an empty value where it has none. */
export function splitLabel(text: string): readonly [name: string, value: string] {
  const [name = "", ...rest] = text.split("=");
  return [name, rest.join("=")];
}

import type { Rewrite } from "./value-places";

const replacedBy =
  (text: string): Rewrite =>
  (key) =>
    key + text;

/** Puts members in front of those of an object, and leaves alone what is none. */
const beside =
  (members: string): Rewrite =>
  (key, value) =>
    key +
    (value.startsWith("{")
      ? value.replace(/^\{(?=(\})?)/, (_, empty?: string) => `{${members}${empty === undefined ? "," : ""}`)
      : value);

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const escaped = (...units: number[]) => `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;

/** How deep the deepest value nests: more than any stack holds. */
const bottomless = 100_000;

/** What can be written at any place of a body instead of what belongs there, by name, as the text that is sent. */
export const wrongValues: Readonly<Record<string, Rewrite>> = {
  missing: () => "",
  null: replacedBy("null"),
  true: replacedBy("true"),
  "a number": replacedBy("7"),
  "a fraction": replacedBy("1.5"),
  "minus zero": replacedBy("-0"),
  "a negative number": replacedBy("-1"),
  "1e400": replacedBy("1e400"),
  "-1e400": replacedBy("-1e400"),
  "2^53 + 1": replacedBy("9007199254740993"),
  "a number of 400 digits": replacedBy("9".repeat(400)),
  "a text": replacedBy('"unknown"'),
  "an empty text": replacedBy('""'),
  "a text of 64 KiB": replacedBy(`"${"x".repeat(65_536)}"`),
  "half a surrogate pair": replacedBy(escaped(0xd800)),
  NUL: replacedBy(escaped(0)),
  "right to left": replacedBy(escaped(0x202e, 0x200b, 0xfeff)),
  "line breaks": replacedBy('"a\\r\\nX-Injected: 1\\r\\n\\r\\n"'),
  "a query": replacedBy(`"x' OR '1'='1\\" OR UpgradeStatus != \\"\\\\"`),
  "an empty list": replacedBy("[]"),
  "a list in a list": replacedBy("[[[]]]"),
  "an empty object": replacedBy("{}"),
  "40 levels": replacedBy(nested(40)),
  "100,000 levels": replacedBy(nested(bottomless)),
  "a prototype for a value": (key, value) => `${key}{"__proto__":${value},"constructor":{"prototype":${value}}}`,
  "a prototype beside": beside('"__proto__":{"draftMode":false,"isAdmin":true},"constructor":{"prototype":{"a":1}}'),
  "unknown fields beside": beside('"toString":1,"hasOwnProperty":null,"x":[{"y":1}]'),
  "the field twice, right at last": (key, value) => (key === "" ? value : `${key}null,${key}${value}`),
  "the field twice, wrong at last": (key, value) => (key === "" ? value : `${key}${value},${key}{"a":[]}`),
};

/** Names of the values that are refused before any field is looked at. */
export const unreadable: ReadonlySet<string> = new Set(["100,000 levels"]);

import { expect } from "chai";
import fc from "fast-check";
import { printable, printableJson } from "../../../src/cli/text";

/** What steers terminals, and what turns the direction of text. */
const steering = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const anything = fc.string({
  unit: fc.constantFrom("a", "é", "\u001b[2J", "\u009b2J", "\u0007", "\n", "\u202e", "\u2028", "\u007f"),
});

describe("printable", () => {
  it("leaves nothing that steers a terminal, and all that does not", () => {
    fc.assert(fc.property(anything, (text) => !steering.test(printable(text))));
    expect(printable("esx-01 é 東京 ✔")).to.equal("esx-01 é 東京 ✔");
    expect(printable("a\u001b]0;owned\u0007b\r\nc")).to.equal("a ]0;owned b c");
  });

  it("escapes it in JSON, so that the value stays the same", () => {
    fc.assert(
      fc.property(anything, fc.constantFrom(undefined, 2), (text, indent) => {
        const json = printableJson({ text, list: [text] }, indent);
        expect(JSON.parse(json)).to.deep.equal({ text, list: [text] });
        expect(json.replaceAll("\n", "")).to.not.match(steering);
      }),
    );
  });
});

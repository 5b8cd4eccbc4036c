import { expect } from "chai";
import fc from "fast-check";
import { printableJson } from "../../../src/cli/text";
import { illegible } from "../../../src/domain/legible";
import { partlyIllegible } from "../domain/partly-illegible";

describe("printableJson", () => {
  it("escapes what steers a terminal, so that the value stays the same", () => {
    fc.assert(
      fc.property(partlyIllegible, fc.constantFrom(undefined, 2), (text, indent) => {
        const json = printableJson({ text, list: [text] }, indent);
        expect(JSON.parse(json)).to.deep.equal({ text, list: [text] });
        expect(json.replaceAll("\n", "").search(illegible)).to.equal(-1);
      }),
    );
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { legible } from "../../../src/domain/legible";
import { partlyIllegible } from "./partly-illegible";

/** What steers terminals, turns the direction of a text, does not show, or is half a character. */
const left = /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;

describe("legible", () => {
  it("leaves nothing that steers a terminal, and all that does not", () => {
    fc.assert(fc.property(partlyIllegible, (text) => !left.test(legible(text))));
    expect(legible("esx-01 é 東京 ✔ 👩‍💻")).to.equal("esx-01 é 東京 ✔ 👩‍💻");
    expect(legible("a\u001b]0;owned\u0007b\r\nc")).to.equal("a ]0;owned b c");
  });
});

import { expect } from "chai";
import fc from "fast-check";
import { bounded, DriverError } from "../../../activities/drivers/driver-error";

describe("what a component manager says, where it comes in", () => {
  for (const [what, said, shown] of [
    ["plain words", "Host esx-01 (10.0.0.1): NOT_ALLOWED_IN_CURRENT_STATE, 5 < 6, [a] & é 🙂", undefined],
    ["terminal control", "a\u001b[31mred\u001b[0m\u0007\u009b2Jb", "a [31mred [0m 2Jb"],
    ["several lines", "a\r\n# Heading\n- item\tb", "a # Heading - item b"],
    ["turned text", "a\u202eb\u2066c\u200bd", "a b c d"],
    ["half surrogates", "a\ud83db\ude00c", "a\ufffdb\ufffdc"],
    ["code and emphasis", "`rm -rf` **now** __or__ ~~never~~", "'rm -rf' ∗∗now∗∗ _or_ ~never~"],
    [
      "links and pictures",
      "[log in](http://evil) ![x](http://evil/x.png) [a][b]",
      "[log in] (http://evil) ![x] (http://evil/x.png) [a] [b]",
    ],
    ["HTML", "<img src=x> </p> <!-- <http://evil>", "‹img src=x> ‹/p> ‹!-- ‹http://evil>"],
  ] as const)
    it(`is shown as text: ${what}`, () => expect(bounded(said, 500)).to.equal(shown ?? said));

  it("is cleaned in the message and the causes of every error of a driver", () => {
    const error = new DriverError({
      kind: "permanent",
      code: "X",
      message: "vc-01 answered: a\u0000b",
      remediation: "Look.",
      causes: ["c\u001bd", "[e](f)"],
    });
    expect([error.message, ...error.causes]).to.deep.equal(["vc-01 answered: a b", "c d", "[e] (f)"]);
  });

  it("is cut with an ellipsis, but never within a character", () => {
    expect(bounded("abcdef", 6)).to.equal("abcdef");
    expect(bounded("abcdefg", 6)).to.equal("abcde…");
    expect(bounded("abcd🙂fg", 6)).to.equal("abcd\ufffd…");
  });

  it("is bounded, well formed and the same when it is cleaned again, whatever it is", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", " ", "\ud83d", "\ude00", "*", "_", "]", "(", "<", "`", "\n"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 40 }), (said, length) => {
        const shown = bounded(said, length);
        expect(shown.length).to.be.at.most(length);
        expect(shown).not.to.match(/\p{Cs}|\p{Cc}|[`*]|\]\(|__/u);
        expect(bounded(shown, length)).to.equal(shown);
      }),
    );
  });
});

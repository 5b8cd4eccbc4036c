import { expect } from "chai";
import fc from "fast-check";
import { findJsonSyntaxError, isNestedDeeperThan } from "../../../src/api/json-syntax";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const jsonFragments = fc
  .array(fc.constantFrom(...'{}[]:,"\\ \n\t-.0123eE+u', "true", "null", '"a"', "\u0001", "\u00e9", "\ud800"), {
    maxLength: 12,
  })
  .map((parts) => parts.join(""));

describe("findJsonSyntaxError", () => {
  it("agrees with JSON.parse on what is JSON", () => {
    fc.assert(
      fc.property(fc.oneof(jsonFragments, fc.string(), fc.json()), (text) => {
        expect(findJsonSyntaxError(text) === undefined).to.equal(isJson(text));
      }),
      { numRuns: 3000 },
    );
  });

  it("finds an error in every proper prefix of an object, never past its end", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
        const text = JSON.stringify(value);
        const prefix = text.slice(0, cut % text.length);
        expect(findJsonSyntaxError(prefix)?.position).to.be.at.most(prefix.length);
      }),
    );
  });

  it("tells the place and what should be there", () => {
    expect(findJsonSyntaxError('{\n  "a": 1,\n  b: 2\n}')).to.deep.equal({
      position: 14,
      line: 3,
      column: 3,
      expected: "a field name in double quotes",
    });
    expect(findJsonSyntaxError("[1 2]")?.expected).to.equal('"," or "]"');
    expect(findJsonSyntaxError("[1] x")).to.include({ position: 4, expected: "the end of the text" });
  });

  it("copes with the longest strings and the deepest nesting that a body can hold", () => {
    expect(findJsonSyntaxError(`"${"a".repeat(524_286)}"`)).to.equal(undefined);
    expect(findJsonSyntaxError(`"${"\\n".repeat(262_143)}"`)).to.equal(undefined);
    const eightMebibytes = `"${"\\n".repeat(4 * 2 ** 20)}`;
    expect(findJsonSyntaxError(eightMebibytes)).to.include({ position: 0, expected: "a value" });
    expect(findJsonSyntaxError(`${eightMebibytes}"`)).to.equal(undefined);
    expect(findJsonSyntaxError("[".repeat(524_288))?.position).to.equal(524_288);
  });
});

describe("isNestedDeeperThan", () => {
  const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

  it("counts lists and objects, not scalars", () => {
    expect(isNestedDeeperThan(1, 0)).to.equal(false);
    expect(isNestedDeeperThan([], 0)).to.equal(true);
    expect(isNestedDeeperThan({ a: { b: 1 } }, 2)).to.equal(false);
    expect(isNestedDeeperThan({ a: { b: [] } }, 2)).to.equal(true);
    expect(isNestedDeeperThan(null, 0)).to.equal(false);
  });

  it("is exact at its limit and needs no stack", () => {
    expect(isNestedDeeperThan(nested(64), 64)).to.equal(false);
    expect(isNestedDeeperThan(nested(65), 64)).to.equal(true);
    expect(isNestedDeeperThan(nested(200_000), 199_999)).to.equal(true);
  });
});

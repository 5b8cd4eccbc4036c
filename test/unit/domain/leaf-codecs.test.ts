import { expect } from "chai";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { Identifier, IntegerBetween, ListOf, Text, WholeNumber } from "../../../src/domain/codec";
import { HostosUpgradeFailureAction, maximumResources, UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";

function accepts(codec: t.Mixed, value: unknown): boolean {
  const decoded = E.isRight(codec.decode(value));
  expect(codec.is(value), "is and decode agree").to.equal(decoded);
  return decoded;
}

describe("leaf codecs", () => {
  it("Text holds up to 1,024 characters, as JSON Schema counts them", () => {
    for (const text of ["", "a", "x".repeat(1024), "😀".repeat(1024)]) expect(accepts(Text, text)).to.equal(true);
    for (const other of ["x".repeat(1025), "😀".repeat(1025), 1, null]) expect(accepts(Text, other)).to.equal(false);
  });

  it("Identifier holds 1 to 255 characters and no control character", () => {
    for (const id of ["a", "a b", "é", "x".repeat(255)]) expect(accepts(Identifier, id)).to.equal(true);
    const others = ["", "x".repeat(256), "a\nb", "\u0000", "\u007f", "\t", 1, null, ["a"]];
    for (const other of others) expect(accepts(Identifier, other), JSON.stringify(other)).to.equal(false);
  });

  it("IntegerBetween holds its bounds and whole numbers only", () => {
    const codec = IntegerBetween(0, 3600, "seconds");
    for (const n of [0, 1, 3600]) expect(accepts(codec, n)).to.equal(true);
    for (const other of [-1, 3601, 0.5, Number.NaN, Infinity, "5", null, true, 5n]) {
      expect(accepts(codec, other), String(other)).to.equal(false);
    }
    expect(codec.expected).to.equal("a whole number of seconds from 0 to 3600");
    expect(codec.schema).to.deep.equal({ type: "integer", minimum: 0, maximum: 3600 });
    expect(WholeNumber.schema).to.have.property("format", "int64");
  });

  it("WholeNumber holds what JSON holds exactly", () => {
    expect(accepts(WholeNumber, Number.MAX_SAFE_INTEGER)).to.equal(true);
    expect(accepts(WholeNumber, 2 ** 53)).to.equal(false);
    expect(accepts(WholeNumber, -1)).to.equal(false);
  });

  it("ListOf holds its bounds and names each wrong element by its index", () => {
    const codec = ListOf(Text, { min: 1, max: 3 });
    expect(codec.expected).to.equal("a list of 1 to 3 elements");
    expect(ListOf(Text).expected).to.equal("a list of at most 1000 elements");
    expect(accepts(codec, ["a"])).to.equal(true);
    expect(accepts(codec, ["a", "b", "c"])).to.equal(true);
    for (const other of [[], ["a", "b", "c", "d"], "a", { 0: "a", length: 1 }, null]) {
      expect(accepts(codec, other), JSON.stringify(other)).to.equal(false);
    }
    const decoded = codec.decode(["a", 1, {}]);
    const places = E.isLeft(decoded) ? decoded.left.map(({ context }) => context.at(-1)?.key) : [];
    expect(places).to.deep.equal(["1", "2"]);
  });

  it("lists hold at most 1,000 elements where nothing else is said", () => {
    const list = (length: number) => Array.from({ length }, () => "a");
    expect(accepts(ListOf(Text), list(1000))).to.equal(true);
    expect(accepts(ListOf(Text), list(1001))).to.equal(false);
  });

  it("a request names 1 to 256 resources", () => {
    const spec = (count: number) => ({
      bundleId: "b",
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: Array.from({ length: count }, (_, i) => ({ resourceId: `c${i}` })),
    });
    expect(maximumResources).to.equal(256);
    expect(accepts(UpgradeSpec, spec(1))).to.equal(true);
    expect(accepts(UpgradeSpec, spec(256))).to.equal(true);
    expect(accepts(UpgradeSpec, spec(0))).to.equal(false);
    expect(accepts(UpgradeSpec, spec(257))).to.equal(false);
  });

  it("a failure action has a delay of 0 to 3,600 s and 0 to 100 retries", () => {
    for (const action of [{}, { retryDelay: 0 }, { retryDelay: 3600 }, { retryCount: 0 }, { retryCount: 100 }]) {
      expect(accepts(HostosUpgradeFailureAction, action), JSON.stringify(action)).to.equal(true);
    }
    for (const action of [
      { retryDelay: -1 },
      { retryDelay: 3601 },
      { retryCount: 101 },
      { retryCount: 1.5 },
      { action: null },
    ]) {
      expect(accepts(HostosUpgradeFailureAction, action), JSON.stringify(action)).to.equal(false);
    }
  });
});

import { expect } from "chai";
import { validate, version } from "uuid";
import { systemIdentities } from "../../../src/commands/api";

describe("systemIdentities", () => {
  const { idFor, digest, newId } = systemIdentities;

  it("makes the id of an Idempotency-Key: a UUIDv5 of caller and key, the same for ever", () => {
    // Another value would make every key new that clients have used so far.
    expect(idFor("dev", "key")).to.equal("398c78eb-ea59-5f14-ac6b-72dd16d7a5ae");
    expect(version(idFor("dev", "key"))).to.equal(5);
    expect(idFor("dev", "key 2")).not.to.equal(idFor("dev", "key"));
    expect(idFor("someone", "key")).not.to.equal(idFor("dev", "key"));
    expect(idFor("a", "bc"), "where the caller ends").not.to.equal(idFor("ab", "c"));
  });

  it("makes one digest of one request, however its fields are ordered, and another of any other", () => {
    const spec = { a: 1, b: { c: [1, 2], d: "x" } };
    expect(digest({ b: { d: "x", c: [1, 2] }, a: 1 })).to.equal(digest(spec));
    for (const other of [{ ...spec, a: 2 }, { ...spec, b: { c: [2, 1], d: "x" } }, { a: 1 }, { ...spec, e: null }])
      expect(digest(other)).not.to.equal(digest(spec));
  });

  it("makes new random ids", () => {
    expect(validate(newId())).to.equal(true);
    expect(newId()).not.to.equal(newId());
  });
});

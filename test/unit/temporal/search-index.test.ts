import { createSecretKey, randomBytes } from "node:crypto";
import type { Client } from "@temporalio/client";
import { expect } from "chai";
import { PayloadEncryption, type PayloadKey } from "../../../src/temporal/payload-encryption";
import { SearchIndex } from "../../../src/temporal/search-index";

const key = (id: string): PayloadKey => ({ id, key: createSecretKey(randomBytes(32)) });

const indexWith = (...keys: PayloadKey[]) => {
  const payloadCodecs = [new PayloadEncryption(keys)];
  return new SearchIndex({ options: { loadedDataConverter: { payloadCodecs } } } as unknown as Client);
};

const upgrade = { createdBy: "jane", resources: [{ name: "Fra1-Prod" }] };

describe("SearchIndex", () => {
  it("finds each word of a search in the terms, and what may be the beginning of an id there too", () => {
    const index = indexWith();
    expect(index.termsOf(upgrade)).to.include.members(["jane", "fra1-prod", "fra"]);
    expect(index.condition("Fra1 it's")).to.equal("SearchTerms IN ('fra1') AND SearchTerms IN ('it\\'s')");
    expect(index.condition("3fae")).to.equal("(SearchTerms IN ('3fae') OR WorkflowId STARTS_WITH '3fae')");
    expect(index.condition(' " ')).to.equal("");
  });

  it("stores nothing that can be read where payloads are encrypted, and still finds it", () => {
    const [older, newer] = [key("older"), key("newer")];
    const terms = indexWith(older).termsOf(upgrade);
    expect(terms.join()).not.to.match(/jane|fra|prod/);
    expect(terms.every((term) => term.length === 12)).to.equal(true);
    const [, found = ""] = /IN \((.*)\)/.exec(indexWith(newer, older).condition("fra1-prod")) ?? [];
    expect(found.split(", ").filter((hash) => terms.includes(hash.slice(1, -1)))).to.have.length(1);
    expect(indexWith(newer).condition("fra1-prod")).not.to.contain(found.split(", ")[1]);
  });
});

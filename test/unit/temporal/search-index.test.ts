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
    expect(index.conditions({ search: "Fra1 it's" })).to.deep.equal([
      "SearchTerms IN ('fra1')",
      "SearchTerms IN ('it\\'s')",
    ]);
    expect(index.conditions({ search: "3fae" })).to.deep.equal([
      "(SearchTerms IN ('3fae') OR WorkflowId STARTS_WITH '3fae')",
    ]);
    expect(index.conditions({ search: ' " ' })).to.deep.equal([]);
  });

  it("finds the id of a change record and every one of several labels as they are", () => {
    const index = indexWith();
    expect(index.changeRecordOf({ changeId: "CHG1", labels: { team: "Blue", env: "p" } })).to.deep.equal({
      changeId: "CHG1",
      labels: ["env=p", "team=Blue"],
    });
    expect(index.changeRecordOf({})).to.deep.equal({ changeId: undefined, labels: undefined });
    expect(index.conditions({ changeId: "CHG1", label: ["team=Blue", "env=p"] })).to.deep.equal([
      "ChangeId IN ('CHG1')",
      "Labels IN ('team=Blue')",
      "Labels IN ('env=p')",
    ]);
  });

  it("finds upgrades by their creator, whom a resource of the same name is not taken for", () => {
    const index = indexWith();
    const [, term = ""] = /^SearchTerms IN \('(.*)'\)$/.exec(index.conditions({ createdBy: "Jane" })[0] ?? "") ?? [];
    expect(index.termsOf(upgrade)).to.include(term);
    expect(index.termsOf({ createdBy: "ada", resources: [{ name: "jane" }] })).not.to.include(term);
    expect(index.conditions({ createdBy: "it's" })).to.deep.equal(["SearchTerms IN ('created by it\\'s')"]);
  });

  it("stores nothing that can be read where payloads are encrypted, and still finds it", () => {
    const [older, newer] = [key("older"), key("newer")];
    const terms = indexWith(older).termsOf(upgrade);
    expect(terms.join()).not.to.match(/jane|fra|prod/);
    const { changeId, labels } = indexWith(older).changeRecordOf({ changeId: "CHG1", labels: { team: "blue" } });
    expect([changeId, labels].join()).not.to.match(/CHG1|team|blue/);
    expect(terms.every((term) => term.length === 12)).to.equal(true);
    const [, found = ""] =
      /IN \((.*)\)/.exec(indexWith(newer, older).conditions({ search: "fra1-prod" })[0] ?? "") ?? [];
    expect(found.split(", ").filter((hash) => terms.includes(hash.slice(1, -1)))).to.have.length(1);
    expect(indexWith(newer).conditions({ search: "fra1-prod" }).join()).not.to.contain(found.split(", ")[1]);
  });
});

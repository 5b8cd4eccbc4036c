import { expect } from "chai";
import { searchTerms, searchWords } from "../../../src/domain/upgrade/search-terms";

const of = (...names: string[]) =>
  searchTerms({ createdBy: "Jane@Example.com", changeId: "CHG-0012", resources: names.map((name) => ({ name })) });

describe("Search terms of an upgrade", () => {
  it("are its creator, the names of its resources, their words, and the beginnings of all, in lower case", () => {
    const terms = of("Fra1-Production");
    for (const word of [
      "jane@example.com",
      "jane",
      "chg-0012",
      "chg",
      "0012",
      "jan",
      "fra1-production",
      "fra1",
      "fra",
      "production",
      "prod",
    ])
      expect(terms).to.include(word);
    expect(terms).not.to.include("fr");
  });

  it("fit into one search attribute, names before beginnings", () => {
    const names = Array.from({ length: 256 }, (_, i) => `cluster-${i}-münchen`);
    const terms = of(...names);
    expect(Buffer.byteLength(JSON.stringify(terms))).to.be.at.most(2000);
    expect(terms).to.include(names[0]);
    expect(terms).to.include("jane@example.com");
  });

  it("are found by the words of a search, without what Visibility cannot be asked for", () => {
    expect(searchWords('  Fra1  "PROD" " ')).to.deep.equal(["fra1", "prod"]);
    expect(searchWords("a\u0000b \u0000 \u009cc\u001b[1m")).to.deep.equal(["ab", "c[1m"]);
  });
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";

function filesBelow(folder: string, ...endings: string[]): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(folder, name));
}

const sources = ["src", "workflows", "activities", "config", "scripts"]
  .flatMap((folder) => filesBelow(folder, ".ts", ".mjs", ".yaml"))
  .map((file) => ({ file, text: readFileSync(file, "utf8").replaceAll(/\n\s*\*\s?/g, " ") }));

const documents = [...filesBelow("docs", ".md"), "CONTRIBUTING.md"];

/** Names of the rows of docs/spec-gaps.md: the first column of its tables. */
const gaps = new Set(
  [...readFileSync("docs/spec-gaps.md", "utf8").matchAll(/^\| ([^|]+) \|/gm)].map(([, name = ""]) =>
    name.replaceAll("`", "").toLowerCase(),
  ),
);

describe("documentation that code cites", () => {
  it("is there", () => {
    const missing = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/docs\/[\w/-]+\.md/g)]
        .filter(([cited]) => !existsSync(cited))
        .map(([cited]) => `${file}: ${cited}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it("has the rows of docs/spec-gaps.md that are cited by name", () => {
    const cited = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/docs\/spec-gaps\.md, ([^).;:\n]+)/g)].map(([, name = ""]) => ({ file, name: name.trim() })),
    );
    expect(cited).not.to.be.empty;
    expect(cited.filter(({ name }) => !gaps.has(name.toLowerCase()))).to.deep.equal([]);
  });

  it("names only files of the code that are there", () => {
    const named = [...documents, "README.md"].flatMap((document) =>
      [
        ...readFileSync(document, "utf8").matchAll(
          /`((?:src|workflows|activities|test|bench|scripts)\/[\w./-]+\.\w+)`/g,
        ),
      ].map(([, file = ""]) => ({ document, file })),
    );
    expect(named.length).to.be.greaterThan(40);
    expect(named.filter(({ file }) => !existsSync(file))).to.deep.equal([]);
  });

  it("links only to what is there", () => {
    const broken = documents.flatMap((document) =>
      [...readFileSync(document, "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, target = ""]) => join(dirname(document), target))
        .filter((target) => !existsSync(target))
        .map((target) => `${document}: ${target}`),
    );
    expect(broken).to.deep.equal([]);
  });
});

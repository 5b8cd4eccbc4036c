import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import ts from "typescript";

/** Words that docs/glossary.md retires, as they begin a hump of an identifier or of a file's name. */
function retiredWords(): readonly string[] {
  const [, section = ""] = readFileSync("docs/glossary.md", "utf8").split("## Retired words");
  return [...section.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, words = ""]) => [...words.matchAll(/`([A-Za-z]+)`/g)])
    .map(([, word = ""]) => word);
}

const files = ["src", "workflows", "activities"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

function identifiersIn(file: string): ReadonlySet<string> {
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, false, kind);
  const found = new Set([basename(file).replace(/\.tsx?$/, "")]);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether a name has all humps of a word, one after another: `putBack` is in `putBackAfter`, not in `inputBacklog`. */
function contains(name: string, word: string): boolean {
  const humps = (text: string) =>
    ` ${text
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .replace(/\W+/g, " ")
      .trim()
      .toLowerCase()} `;
  return humps(name).includes(humps(word));
}

describe("the words of the code", function () {
  // It parses every file.
  this.timeout(60_000);

  it("are not those that docs/glossary.md has retired", () => {
    const retired = retiredWords();
    expect(retired.length).to.be.greaterThan(20);
    const used = files.flatMap((file) =>
      [...identifiersIn(file)]
        .filter((name) => retired.some((word) => contains(name, word)))
        .map((name) => `${file}: ${name}`),
    );
    expect(used).to.deep.equal([]);
  });

  it("are found in every position of a name", () => {
    expect(["putBack", "notPutBack", "put-back", "PutBackAfter"].every((name) => contains(name, "putBack"))).to.equal(
      true,
    );
    expect(contains("inputBacklog", "putBack")).to.equal(false);
  });
});

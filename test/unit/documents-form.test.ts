import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";

const root = resolve(__dirname, "../..");

interface Line {
  readonly text: string;
  /** Such as `docs/operating.md:12`. */
  readonly place: string;
}

interface Document {
  readonly name: string;
  readonly length: number;
  /** Lines outside of code. */
  readonly prose: readonly Line[];
  /** Blocks of shell commands. */
  readonly blocks: readonly Line[];
}

function readDocument(name: string): Document {
  const prose: Line[] = [];
  const blocks: Line[] = [];
  let block: { language: string; lines: string[]; place: string } | undefined;
  const lines = readFileSync(join(root, name), "utf8").trimEnd().split("\n");
  for (const [index, text] of lines.entries()) {
    const place = `${name}:${index + 1}`;
    const fence = /^\s*```(\w*)$/.exec(text);
    if (fence && !block) block = { language: fence[1] ?? "", lines: [], place };
    else if (fence && block) {
      if (block.language === "sh") blocks.push({ text: block.lines.join("\n"), place: block.place });
      block = undefined;
    } else if (block) block.lines.push(text);
    else prose.push({ text, place });
  }
  return { name, length: lines.length, prose, blocks };
}

/** The commands of a block that do something: not what goes on with the line before, and not variables. */
function actionsOf(block: string): readonly string[] {
  const joined = block
    .replace(/<<'?(\w+)'?\n[\s\S]*?\n\1$/gm, "")
    .replace(/(\\|&&|\||\bdo)\n/g, "$1 ")
    .replace(/\n(?=\s|done\b)/g, " ");
  const setsOnly = /^(export |alias |[A-Z_a-z]+=\S*('[^']*'|"[^"]*"|\$\([^\n]*\))?\S*(\s|;|$))/;
  return joined.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#") && !setsOnly.test(line));
}

describe("the form of the documents", () => {
  const inFolder = (folder: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`);
  const records = inFolder("docs/decisions").map(readDocument);
  const documents = [
    ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", ...inFolder("docs")].map(readDocument),
    ...records,
  ];
  const prose = documents.flatMap((document) => document.prose);
  const blocks = documents.flatMap((document) => document.blocks);

  it("has lines of at most 105 characters outside of tables and code", () => {
    const long = prose.filter(({ text }) => text.length > 105 && !text.startsWith("|"));
    expect(long.map(({ place }) => place)).to.deep.equal([]);
  });

  it("has table cells of at most 300 characters", () => {
    const long = prose.filter(
      ({ text }) => text.startsWith("|") && text.split(/(?<!\\)\|/).some((cell) => cell.trim().length > 300),
    );
    expect(long.map(({ place }) => place)).to.deep.equal([]);
  });

  it("has decision records of at most 60 lines", () => {
    expect(records.filter(({ length }) => length > 60).map(({ name }) => name)).to.deep.equal([]);
  });

  it("has one action per block of commands, so that pasting a block never starts two things", () => {
    expect(blocks.length).to.be.greaterThan(100);
    const several = blocks.filter(({ text }) => {
      const actions = actionsOf(text);
      // Calls of curl belong together where one needs what the other has answered.
      return actions.length > 1 && !(/=\$\(curl/.test(text) && actions.every((action) => action.startsWith("curl")));
    });
    expect(several.map(({ place, text }) => `${place}: ${actionsOf(text).join(" + ")}`)).to.deep.equal([]);
  });

  it("names in its commands only files of the checkout that are there", () => {
    const named = blocks.flatMap(({ text, place }) =>
      [...text.matchAll(/(?:^|[\s@/])((?:test|examples|config\/temporal|deploy|scripts)\/[\w./-]+\.\w+)/gm)].map(
        ([, file = ""]) => ({ place, file }),
      ),
    );
    expect(named.length).to.be.greaterThan(10);
    expect(named.filter(({ file }) => !existsSync(join(root, file)))).to.deep.equal([]);
  });

  it("counts what goes on over several lines as one action", () => {
    for (const one of [
      "curl -s $api \\\n  -d @x",
      "export A=b C=d\nnpm start",
      "id=$(node -p 'x y')\nid=2",
      "a &&\nb",
      "for x in a b; do\n  y\n  z\ndone",
      "python3 - <<'END'\nimport a\nimport b\nEND",
    ])
      expect(actionsOf(one).length, one).to.be.at.most(1);
    for (const two of ["npm start\nnpm test", "curl a\ncurl b", "a > b\nexport C=d\nnode e"])
      expect(actionsOf(two), two).to.have.length(2);
  });
});

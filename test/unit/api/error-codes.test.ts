import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";

const root = join(__dirname, "../../..");

/** Where errors are made that clients and operators see. */
const folders = [
  "src/api",
  "src/authentication",
  "src/domain",
  "src/upgrades",
  "src/temporal",
  "src/catalog",
  "src/inventory",
  "activities",
  "workflows",
];

/** What the value of a field is made of, to its comma or the end of the object: a text, or a choice between several. */
const valueOf = (field: string) => new RegExp(`\\b(?:${field}):\\s*([^;]*?)(?:,\\s|\\s*\\}|\\)?;)`, "g");
const texts = (source: string) => [...source.matchAll(/"([A-Za-z_]+)"/g)].map(([, text]) => text!);
const valuesOf = (field: string, source: string) => [...source.matchAll(valueOf(field))].flatMap(([, v]) => texts(v!));

/** An error code as an argument of a function that makes an error, or where no other one is known. */
const uses = [
  /\b(?:errorC|c)ode: ?"(\w+)"/g,
  /\berrorCode \?\? "(\w+)"/g,
  /\b(?:refuse|hostFailure|reportedFailure|failure)\((?:[\w.#]+,\s*)?"([A-Z_]+)"/g,
  /\bworkerShutdown = "(\w+)"/g,
];

function sourcesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(join(root, folder, name), "utf8"));
}

describe("docs/error-codes.md", () => {
  const sources = folders.flatMap(sourcesOf);
  const used = new Set(
    sources.flatMap((text) => [
      ...valuesOf("errorCode|code", text),
      ...uses.flatMap((use) => [...text.matchAll(use)].map(([, code]) => code!)),
    ]),
  );
  const page = readFileSync(join(root, "docs/error-codes.md"), "utf8");
  const [introduction = "", ...groups] = page.split(/^## /m);
  /** A heading for each code, so that it can be linked to; its group says what the reader was doing. */
  const entries = groups.flatMap((group) => group.split(/^### /m).slice(1));
  const documented = entries.map((entry) => /^`(\w+)`\n/.exec(entry)?.[1]);

  it("finds the codes of every layer", () => {
    expect([...used]).to.include.members([
      "INVALID_FIELD",
      "RESOURCE_LOCKED",
      "IDEMPOTENCY_KEY_REUSED",
      "CLUSTER_BUSY",
      // Given by a choice between two, instead of none, and to what a Workflow is closed with.
      "CLUSTER_WORKFLOW_LOST",
      "RESOURCE_UPGRADE_FAILED",
      "UPGRADE_FAILED",
    ]);
  });

  it("names every kind of error that is used", () => {
    const kinds = new Set(sources.flatMap((text) => valuesOf("errorType", text)));
    expect([...kinds]).to.include.members(["CONFLICT", "INTERNAL", "CANCELLED", "UPGRADE"]);
    expect([...kinds].filter((kind) => !introduction.includes(`\`${kind}\``))).to.deep.equal([]);
  });

  it("documents every code that is used", () => {
    expect([...used].filter((code) => !documented.includes(code))).to.deep.equal([]);
  });

  it("documents no code that is not used", () => {
    // A code may also be the key of a table.
    const isUsed = (code = "") => sources.some((text) => new RegExp(`"${code}"|\\b${code}:`).test(text));
    expect(documented.filter((code) => !isUsed(code))).to.deep.equal([]);
  });

  it("has each code once, with its status if it has one, the cause and what to do", () => {
    expect(documented).to.deep.equal([...new Set(documented)]);
    for (const entry of entries)
      expect(entry).to.match(/^`\w+`\n\n((4\d\d|50[03])\. )?[A-Z"`][^|]{5,}[.)]\n\*\*Do:\*\* [^|]{5,}\.\n/);
  });
});

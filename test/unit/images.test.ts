import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { expect } from "chai";

const root = resolve(__dirname, "../..");
const folder = "docs/images";

describe("the pictures of the documentation", () => {
  const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter((name) =>
    name.endsWith(".md"),
  );
  const references = pages.flatMap((page) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(
      ([, alt = "", path = ""]) => ({
        page,
        alt,
        picture: relative(root, resolve(root, page, "..", path)),
      }),
    ),
  );

  it("are those that pages show, each of them", () => {
    const shown = new Set(references.map(({ picture }) => picture));
    expect([...shown].sort()).to.deep.equal(
      readdirSync(join(root, folder), { encoding: "utf8" })
        .map((name) => `${folder}/${name}`)
        .sort(),
    );
  });

  it("are described for those who do not see them", () => {
    expect(references.filter(({ alt }) => alt.trim().length < 10)).to.deep.equal([]);
  });

  it("are taken by the browser tests", () => {
    const tests = readdirSync(join(root, "test/e2e/console")).map((name) =>
      readFileSync(join(root, "test/e2e/console", name), "utf8"),
    );
    const taken = tests.flatMap((text) =>
      [...text.matchAll(/(?:screenshot\(\S+, |picture\()"([\w-]+)"/g)].map(([, name]) => `${folder}/${name}.png`),
    );
    expect(taken.sort()).to.deep.equal([...new Set(references.map(({ picture }) => picture))].sort());
  });

  it("are no burden to a clone: below 2.5 MB in all", () => {
    const bytes = readdirSync(join(root, folder)).reduce(
      (sum, name) => sum + readFileSync(join(root, folder, name)).length,
      0,
    );
    expect(bytes).to.be.below(2_500_000);
  });
});

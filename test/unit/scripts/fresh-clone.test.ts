import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect } from "chai";

const scripts = resolve(__dirname, "../../../scripts");

/** What a script needs before its first line runs, with all that those need. */
function staticImports(file: string, seen = new Map<string, readonly string[]>()): Map<string, readonly string[]> {
  if (seen.has(file)) return seen;
  const names = [...readFileSync(file, "utf8").matchAll(/^(?:import|\} from)\b[^"\n]*"([^"]+)"/gm)].map(
    ([, name = ""]) => name,
  );
  seen.set(file, names);
  for (const name of names) if (name.startsWith(".")) staticImports(join(dirname(file), name), seen);
  return seen;
}

describe("a fresh clone, where no package is installed", () => {
  for (const entry of ["start.mjs", "test.mjs", "check.mjs", "upgradectl.mjs"])
    it(`has all that ${entry} needs to install them`, () => {
      const imports = [...staticImports(join(scripts, entry)).values()].flat();
      expect(imports).to.not.be.empty;
      expect(imports.filter((name) => !/^(node:|\.)/.test(name))).to.deep.equal([]);
    });
});

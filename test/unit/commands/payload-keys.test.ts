import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { loadPayloadKeys } from "../../../src/commands/payload-keys";
import { StartupError } from "../../../src/startup-error";

const secret = randomBytes(32).toString("base64");

describe("PAYLOAD_KEYS_FILE", () => {
  let folder: string;
  let file: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "ums-keys-"));
    file = join(folder, "keys.yaml");
  });
  after(() => rmSync(folder, { recursive: true }));

  function problemOf(content: string): string {
    writeFileSync(file, content);
    try {
      loadPayloadKeys(file);
    } catch (error) {
      expect(error).to.be.instanceOf(StartupError);
      return (error as StartupError).message;
    }
    throw new Error(`It was taken: ${content}`);
  }

  it("holds keys in the order in which they are used", () => {
    const other = randomBytes(32).toString("base64");
    writeFileSync(file, `keys:\n  - id: 2026-11\n    key: ${secret}\n  - { id: old_1.a, key: "${other}" }\n`);
    const keys = loadPayloadKeys(file).map(({ id, key }) => [id, key.export().toString("base64")]);
    expect(keys).to.deep.equal([
      ["2026-11", secret],
      ["old_1.a", other],
    ]);
  });

  it("means no encryption where there is none", () => {
    expect(loadPayloadKeys(undefined)).to.deep.equal([]);
  });

  it("is refused with its name and the key that is wrong, and without a key", () => {
    const entry = (id: string, key: string) => `  - id: ${id}\n    key: ${key}\n`;
    const cases: [string, RegExp][] = [
      ["", /needs a list named keys/],
      ["keys: []", /needs a list named keys/],
      [`keys:\n${entry("one", "c2hvcnQ=")}`, /The key of one must be 32 bytes in base64/],
      [`keys:\n${entry('"a b"', secret)}`, /keys\[0\]\.id must be/],
      [`keys:\n${entry("one", secret)}${entry("one", secret)}`, /keys\[1\]: the id one occurs twice/],
      [`keys:\n  - id: [${secret}\n`, /cannot be used/],
    ];
    for (const [content, expected] of cases) {
      const problem = problemOf(content);
      expect(problem).to.match(expected).and.to.contain(`PAYLOAD_KEYS_FILE=${file}`);
      expect(problem).to.contain("docs/encryption.md").and.not.contain(secret);
    }
    expect(() => loadPayloadKeys(join(folder, "missing.yaml"))).to.throw(StartupError, /missing\.yaml.*ENOENT/);
  });
});

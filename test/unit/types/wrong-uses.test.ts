import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "chai";
import ts from "typescript";

const root = resolve(__dirname, "../../..");
const folder = join(__dirname, "errors");

interface WrongUse {
  readonly name: string;
  readonly file: string;
  readonly code: string;
  readonly project: string;
}

/** Each file says in its first line which error it must give, and with which project's settings. */
function wrongUses(): WrongUse[] {
  return readdirSync(folder).map((name) => {
    const file = join(folder, name);
    const [, code, project] = /^\/\/ expect (TS\d+)(?: with (\S+))?\n/.exec(readFileSync(file, "utf8")) ?? [];
    if (code === undefined) throw new Error(`${name} does not say what it expects`);
    return { name, file, code, project: project ?? "tsconfig.json" };
  });
}

/** The errors of some files, by file, compiled with the settings of a project. */
function compile(project: string, files: readonly string[]): ReadonlyMap<string, string[]> {
  const path = join(root, project);
  const config = ts.getParsedCommandLineOfConfigFile(
    path,
    { noEmit: true },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail },
  );
  const program = ts.createProgram([...files], config?.options ?? {});
  return new Map(
    files.map((file) => {
      const source = program.getSourceFile(file);
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return [file, found.map(({ code }) => `TS${code}`)];
    }),
  );
}

function fail({ messageText }: ts.Diagnostic): never {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, " "));
}

describe("wrong uses do not compile", function () {
  this.timeout(120_000);
  const uses = wrongUses();
  const errors = new Map<string, string[]>();

  before(() => {
    for (const project of new Set(uses.map((use) => use.project))) {
      const files = uses.filter((use) => use.project === project).map(({ file }) => file);
      for (const [file, codes] of compile(project, files)) errors.set(file, codes);
    }
  });

  it("while the right ones do: this file has no error under the same settings", () => {
    expect(compile("tsconfig.json", [__filename]).get(__filename)).to.deep.equal([]);
  });

  for (const { name, file, code } of uses)
    it(`${name.replace(/\.ts$/, "").replaceAll("-", " ")} (${code})`, () => {
      expect(errors.get(file)).to.deep.equal([code]);
    });
});

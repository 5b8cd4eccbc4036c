import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";

/**
 * The commands of one section of a page, as operators copy them: each line of its `sh` blocks, with what a line that ends with a
 * quotation mark left open goes on with.
 */
export class DocumentedCommands {
  private readonly commands: readonly string[];
  private readonly path = mkdtempSync(join(tmpdir(), "ums-path-"));

  /** `temporalCli`: what `temporal` is to be. Throws where the page has no such section. */
  constructor(
    page: string,
    heading: string,
    private readonly temporalCli: string,
  ) {
    const text = readFileSync(resolve(__dirname, "../../docs", page), "utf8");
    const [, section] = text.split(`\n${heading}\n`);
    if (section === undefined) throw new Error(`${page} has no section ${heading}`);
    const [own = ""] = section.split(/\n#+ /);
    this.commands = [...own.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) => block.trim().split(/\n(?! )/));
    symlinkSync(this.temporalCli, join(this.path, "temporal"));
  }

  /** Runs the one command that has all of these words, in a shell with these variables. Gives what it prints. */
  async run(words: readonly string[], variables: Readonly<Record<string, string>>): Promise<string> {
    const [command, ...others] = this.commands.filter((one) => words.every((word) => one.includes(word)));
    if (command === undefined || others.length > 0)
      throw new Error(`Not one command with ${words.join(" ")}: ${this.commands.join("\n")}`);
    const env = { ...process.env, ...variables, PATH: `${this.path}${delimiter}${process.env["PATH"] ?? ""}` };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
    return stdout;
  }

  discard(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

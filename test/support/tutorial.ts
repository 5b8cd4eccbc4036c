import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect } from "chai";

const root = resolve(__dirname, "../..");

interface Step {
  /** A block of shell commands. */
  readonly command: string;
  /** Lines of what it prints, as the page shows them after it. */
  readonly shown: readonly string[];
}

export interface Ran {
  readonly code: number;
  /** Both outputs. */
  readonly printed: string;
}

/**
 * A page of docs/ that is played from beginning to end: its `sh` blocks in their order, as readers paste them, with the `text`
 * block after one as what it prints. In those, `…` stands for anything, and a run of spaces is one.
 */
export class Tutorial {
  private readonly steps: Step[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), "ums-tutorial-"));
  private readonly changes = new Map<string, string>();

  constructor(private readonly page: string) {
    const blocks = readFileSync(join(root, "docs", page), "utf8").matchAll(/^```(sh|text)\n(.*?)^```$/gms);
    for (const [, language, block = ""] of blocks) {
      const lines = block.trimEnd().split("\n");
      if (language === "sh") this.steps.push({ command: block.trimEnd(), shown: [] });
      else this.steps.push({ ...(this.steps.pop() ?? { command: "" }), shown: lines });
    }
    this.program("upgradectl", `exec '${process.execPath}' '${root}/dist/src/cli/upgradectl.js' "$@"`);
    // The service is started by whoever plays the page; this tells with which variables.
    this.program("npm", `exec '${process.execPath}' -p 'JSON.stringify(process.env)'`);
  }

  /** What stands for something on the page from here on, such as an address. */
  replace(written: string, meant: string): void {
    this.changes.set(written, meant);
  }

  /** How many steps are left. */
  get left(): number {
    return this.steps.length;
  }

  /** The next steps of the page, which are `npm start` and what sets its variables. Gives these variables. */
  async start(count = 1): Promise<Record<string, string>> {
    const commands = Array.from({ length: count }, () => this.take(count === 1 ? "npm start" : "").command);
    expect(commands.at(-1), this.page).to.contain("npm start");
    const { printed } = await this.bash(commands.join("\n"));
    const known = new Set([...Object.keys(process.env), "_", "SHLVL", "PWD", "OLDPWD", "UPGRADECTL_CONFIG"]);
    const all = Object.entries(JSON.parse(printed) as Record<string, string>);
    return Object.fromEntries(all.filter(([name]) => !known.has(name)));
  }

  /** Runs the next step of the page, which begins like this, and checks that it prints what the page shows. */
  async run(beginning: string, code = 0): Promise<string> {
    const { command, shown } = this.take(beginning);
    const ran = await this.bash(command);
    expect(ran.code, `${command}\n${ran.printed}`).to.equal(code);
    expectShown(ran.printed, shown);
    return ran.printed;
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private take(beginning: string): Step {
    const step = this.steps.shift();
    if (!step?.command.includes(beginning))
      throw new Error(`The next command of ${this.page} is not ${beginning}: ${step?.command}`);
    return step;
  }

  private bash(command: string): Promise<Ran> {
    const changed = [...this.changes].reduce((text, [written, meant]) => text.replaceAll(written, meant), command);
    const env = {
      ...process.env,
      PATH: `${this.folder}${delimiter}${process.env["PATH"] ?? ""}`,
      UPGRADECTL_CONFIG: join(this.folder, "config.json"),
    };
    return new Promise((done) => {
      execFile("bash", ["-c", `exec 2>&1\n${changed}`], { env, cwd: root, timeout: 120_000 }, (error, stdout) =>
        done({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, printed: stdout }),
      );
    });
  }

  private program(name: string, text: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
}

/** Each line that a page shows is printed, in this order; others may be between them. */
function expectShown(printed: string, shown: readonly string[]): void {
  const flat = (line: string) => line.trim().replace(/\s+/g, " ");
  const lines = printed.split("\n").map(flat);
  let from = 0;
  for (const line of shown) {
    const parts = flat(line).split("…");
    const pattern = new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join(".*")}$`);
    const found = lines.findIndex((one, i) => i >= from && pattern.test(one));
    expect(found, `no line ${line} in\n${lines.slice(from).join("\n")}`).to.be.at.least(0);
    from = found + 1;
  }
}

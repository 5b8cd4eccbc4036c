import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Environment, Output } from "../../src/cli/environment";
import { runCli } from "../../src/cli/program";

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `upgradectl` in this process, with a configuration folder of its own; waits take no time. */
export class Upgradectl {
  private readonly folder = mkdtempSync(join(tmpdir(), "upgradectl-"));
  readonly config = join(this.folder, "upgradectl/config.json");
  readonly waits: number[] = [];
  readonly interruption = new AbortController();
  env: Record<string, string> = {};
  stdin = "";
  /** What is answered to questions, and what was asked. */
  answer = false;
  readonly asked: string[] = [];
  now = Date.parse("2036-01-01T00:00:00.000Z");

  async run(args: readonly string[], over: Partial<Environment> = {}): Promise<CliRun> {
    const written = { stdout: "", stderr: "" };
    const into = (name: keyof typeof written): Output => ({ write: (text: string) => (written[name] += text) });
    const code = await runCli(args, {
      env: { XDG_CONFIG_HOME: this.folder, ...this.env },
      stdin: Readable.from([this.stdin]),
      stdout: into("stdout"),
      stderr: into("stderr"),
      interrupted: this.interruption.signal,
      now: () => this.now,
      confirm: async (question) => {
        this.asked.push(question);
        return this.answer;
      },
      holdTerminal: () => () => undefined,
      wait: async (milliseconds) => {
        this.waits.push(milliseconds);
        this.now += milliseconds;
      },
      ...over,
    });
    return { code, ...written };
  }

  /** The same, where questions can be asked. */
  async runInTerminal(args: readonly string[]): Promise<CliRun> {
    return this.run(args, { stdin: Object.assign(Readable.from([this.stdin]), { isTTY: true }) });
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

import { execFileSync, spawnSync } from "node:child_process";
import { until } from "../../support/service/service-under-test";

/** A real terminal: a tmux of its own, without anybody's settings, with a shell in one window. */
export class Tmux {
  private static opened = 0;
  /** Of its own: a server that was told to end may still be there when the next one starts. */
  private readonly socket = `upgradectl-${process.pid}-${(Tmux.opened += 1)}`;

  /** Fails loudly where there is no tmux. `env` is all that the shell's programs see. */
  constructor(columns: number, rows: number, env: Readonly<Record<string, string>>) {
    if (spawnSync("tmux", ["-V"]).error) throw new Error("There is no tmux: install Debian's package tmux.");
    const { PATH = "", HOME = "" } = process.env;
    const seen = Object.entries({ PATH, HOME, TERM: "screen", LANG: "C.UTF-8", PS1: "$ ", ...env });
    const shell = ["env", "-i", ...seen.map(([name, value]) => `${name}=${value}`), "sh"];
    this.tmux("new-session", "-d", "-x", `${columns}`, "-y", `${rows}`, ...shell);
  }

  /** Types a line. */
  type(line: string): void {
    this.tmux("send-keys", "-l", line);
    this.press("Enter");
  }

  /** A key by its name in tmux, such as `C-c`. */
  press(key: string): void {
    this.tmux("send-keys", key);
  }

  resize(columns: number, rows: number): void {
    this.tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`);
  }

  /** The lines that stand in the window now, without the empty ones. */
  get lines(): string[] {
    return this.tmux("capture-pane", "-p")
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => line !== "");
  }

  /** Waits until the window shows what is expected, and gives its lines. */
  async shows(what: string, expected: (lines: readonly string[]) => boolean): Promise<string[]> {
    let { lines } = this;
    await until(`the terminal shows ${what}`, () => {
      ({ lines } = this);
      return expected(lines);
    }).catch((cause: unknown) => {
      throw new Error(`The terminal never showed ${what}, but:\n${lines.join("\n")}`, { cause });
    });
    return lines;
  }

  /** Ends it and all that runs in it. */
  close(): void {
    this.tmux("kill-server");
  }

  private tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-L", this.socket, "-f", "/dev/null", "-u", ...args], { encoding: "utf8" });
  }
}

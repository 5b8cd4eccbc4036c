import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { Output } from "../../../src/cli/environment";
import type { Upgradectl } from "../../support/run-upgradectl";
import { until } from "../../support/service/service-under-test";
import { screenshot } from "./chromium";

const margin = 14;
const theme = { background: "#14181f", foreground: "#e8ecf2", brightBlack: "#9aa5b4" };
const look = { theme, fontFamily: "monospace", fontSize: 14, lineHeight: 1.25, cursorInactiveStyle: "none" };

/** A terminal drawn by xterm.js on a page of its own, in which the real `upgradectl` runs. */
export class TerminalPage implements Output {
  readonly isTTY = true;
  private drawn: Promise<unknown> = Promise.resolve();
  private closed = false;

  private constructor(
    private readonly page: Page,
    readonly columns: number,
    readonly rows: number,
  ) {}

  /** Opens it beside another page. Sizes are in characters. */
  static async beside(other: Page, columns: number, rows: number): Promise<TerminalPage> {
    const page = await other.context().browser()?.newPage();
    if (!page) throw new Error("The other page has no browser");
    await page.setContent("<main></main>");
    await page.addStyleTag({ path: require.resolve("@xterm/xterm/css/xterm.css") });
    await page.addStyleTag({ content: `body { margin: ${margin}px; background: ${theme.background}; }` });
    await page.addScriptTag({ path: require.resolve("@xterm/xterm") });
    const options = { cols: columns, rows, convertEol: true, ...look };
    await page.evaluate(`window.terminal = new Terminal(${JSON.stringify(options)})`);
    await page.evaluate("terminal.open(document.querySelector('main'))");
    return new TerminalPage(page, columns, rows);
  }

  write(text: string): void {
    if (this.closed) return;
    const writing = `new Promise((done) => terminal.write(${JSON.stringify(text)}, done))`;
    this.drawn = this.drawn.then(() => this.page.evaluate(writing));
  }

  /** Types a command as somebody would, runs it, and gives its exit code. */
  async run(cli: Upgradectl, ...args: readonly string[]): Promise<number> {
    this.write(`$ upgradectl ${args.join(" ")}\n`);
    const wait = (milliseconds: number) => delay(milliseconds);
    const { code } = await cli.run(args, { stdout: this, stderr: this, now: Date.now, wait });
    return code;
  }

  /** What can be seen in it now. */
  async lines(): Promise<string[]> {
    await this.drawn;
    const line = "terminal.buffer.active.getLine(terminal.buffer.active.viewportY + n)?.translateToString(true) ?? ''";
    return this.page.evaluate(`Array.from({ length: terminal.rows }, (_, n) => ${line})`);
  }

  /** Waits until it shows a text. */
  shows(text: RegExp): Promise<void> {
    return until(`the terminal shows ${text}`, async () => text.test((await this.lines()).join("\n")));
  }

  /** Renews its picture, without the empty lines at its end, where SCREENSHOTS is set; then the terminal is empty. */
  async picture(name: string): Promise<void> {
    const used = (await this.lines()).findLastIndex((line) => line !== "") + 1;
    const box = await this.page.locator(".xterm-screen").boundingBox();
    if (!box) throw new Error("There is no terminal on the page");
    const height = (box.height / this.rows) * used;
    await this.page.setViewportSize({
      width: Math.ceil(box.width + 2 * margin),
      height: Math.ceil(height + 2 * margin),
    });
    await screenshot(this.page, name);
    this.clear();
  }

  clear(): void {
    this.write("\x1b[H\x1b[2J");
  }

  /** What is written afterwards is not shown any more. */
  async close(): Promise<void> {
    this.closed = true;
    await this.drawn;
    await this.page.close();
  }
}

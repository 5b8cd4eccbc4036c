import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(__dirname, "../../..");
const bundle = "dist/workflow-bundle.js";

/**
 * A built checkout of its own, so that a worker that is started in it may be given other Workflows. Everything but the build is
 * shared with this checkout.
 */
export class CheckoutCopy {
  readonly folder = mkdtempSync(join(tmpdir(), "ums-checkout-"));
  private readonly good: string;

  constructor() {
    for (const name of readdirSync(root).filter((one) => one !== "dist" && !one.startsWith(".")))
      symlinkSync(join(root, name), join(this.folder, name));
    cpSync(join(root, "dist"), join(this.folder, "dist"), { recursive: true });
    this.good = readFileSync(join(this.folder, bundle), "utf8");
  }

  /**
   * Has the next worker run these statements first in each run of the Workflows, by their function; `input` is what that was
   * started with, and `sleep` the SDK's. Without any it is a good build again.
   */
  build(statements: Readonly<Record<string, string>>): void {
    const code = Object.entries(statements).reduce((before, [workflow, statement]) => {
      const head = new RegExp(`(?:async )?function ${workflow}\\((\\w+)((?:, \\w+)*)\\) \\{\\n`);
      if (!head.test(before)) throw new Error(`The bundle has no Workflow ${workflow}`);
      return before.replace(
        head,
        (_line, input: string, others: string) =>
          `async function ${workflow}(${input}${others}) {\n${statement.replaceAll("$input", input)}\n`,
      );
    }, this.good);
    writeFileSync(join(this.folder, bundle), code);
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

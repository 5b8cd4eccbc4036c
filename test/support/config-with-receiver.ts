import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** A copy of the configuration as shipped, to which a receiver of notifications called `chat` can be added. */
export class ConfigWithReceiver {
  private readonly folder = mkdtempSync(join(tmpdir(), "ums-config-"));
  readonly inventory = join(this.folder, "inventory.yaml");
  readonly secretFile = join(this.folder, "chat-secret.txt");

  constructor(secret: string) {
    cpSync(resolve(__dirname, "../../config"), this.folder, { recursive: true });
    writeFileSync(this.secretFile, `${secret}\n`);
  }

  addReceiver(url: string): void {
    this.addReceivers([{ id: "chat", url, secretFile: "chat-secret.txt" }]);
  }

  addReceivers(receivers: readonly object[]): void {
    const entries = JSON.stringify(receivers);
    writeFileSync(this.inventory, `${readFileSync(this.inventory, "utf8")}\nnotificationReceivers: ${entries}\n`);
  }

  /** A file beside the inventory, such as one with a secret. */
  write(name: string, content: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

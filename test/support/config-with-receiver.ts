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
    const entry = `{id: chat, url: "${url}", secretFile: chat-secret.txt}`;
    writeFileSync(this.inventory, `${readFileSync(this.inventory, "utf8")}\nnotificationReceivers: [${entry}]\n`);
  }

  discard(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

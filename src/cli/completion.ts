import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { UpgradeStatus } from "../domain/upgrade-status";

/** What `--output` takes. */
export const formats = ["table", "json"] as const;

/**
 * Adds `completion SHELL`, which prints a script for the shell, and the hidden command that the script asks. Neither speaks
 * to the service. `lastWord` is what stands before the cursor.
 */
export function addCompletion(program: Command, lastWord: string): void {
  const root = tab(program, { completionCommandName: "completion" });
  const offer = (command: string, option: string, values: () => readonly string[]) => {
    const found = root.commands.get(command)?.options.get(option);
    if (found) found.handler = (complete) => values().forEach((value) => complete(value, ""));
  };
  for (const command of ["start", "plan"]) offer(command, "file", () => filesFor(lastWord));
  offer("list", "status", () => Object.keys(UpgradeStatus.keys));
  for (const command of root.commands.values()) {
    // What every command takes is known to the root only.
    command.option(
      "output",
      "tables for people or JSON for scripts",
      (complete) => formats.forEach((one) => complete(one, "")),
      "o",
    );
    command.option("server", "the service's address", () => undefined);
  }
}

/** What may stand for a file that has been begun: folders, and files of the right kind. */
function filesFor(begun: string): string[] {
  const folder = begun.endsWith("/") ? begun : dirname(begun);
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || /\.(json|ya?ml)$/.test(entry.name))
      .map((entry) => `${folder === "." ? entry.name : join(folder, entry.name)}${entry.isDirectory() ? "/" : ""}`);
  } catch {
    return [];
  }
}

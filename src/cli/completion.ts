import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import type { KnownId } from "./known-ids";
import { printable } from "./printable";
import { UpgradeStatus } from "../domain/upgrade-status";

/** What `--output` takes. */
export const formats = ["table", "json"] as const;

/** The hidden command that a shell's script asks. */
const asking = "complete";

/** The words of a command line that a shell asks to complete; undefined where it is no such question. */
export function wordsToComplete([command, dashes, ...words]: readonly string[]): readonly string[] | undefined {
  return command === asking && dashes === "--" ? words : undefined;
}

/**
 * Adds `completion SHELL`, which prints a script for the shell, and the hidden command that the script asks. `lastWord` is
 * what stands before the cursor, `ids` the service's ids that fit there.
 */
export function addCompletion(program: Command, lastWord: string, ids: readonly KnownId[]): void {
  const root = tab(program, { completionCommandName: "completion" });
  const offer = (command: string, option: string, values: () => readonly string[]) => {
    const found = root.commands.get(command)?.options.get(option);
    if (found) found.handler = (complete) => values().forEach((value) => complete(value, ""));
  };
  for (const command of ["start", "plan"]) offer(command, "file", () => filesFor(lastWord));
  offer("list", "status", () => Object.keys(UpgradeStatus.keys));
  const offerIds = (complete: (value: string, description: string) => void) =>
    ids.forEach(({ id, name }) => complete(id, printable(name)));
  for (const command of root.commands.values()) {
    // Of a command that takes an id it is the only argument.
    for (const argument of command.arguments.values()) argument.handler ??= offerIds;
    for (const name of ["bundle", "cluster"]) {
      const option = command.options.get(name);
      if (option) option.handler = offerIds;
    }
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

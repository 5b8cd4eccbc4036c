import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { legible } from "../domain/legible";
import { largestPage } from "../domain/page";
import { PageOfBundle } from "../domain/spec/bundle";
import { PageOfCluster } from "../domain/spec/cluster";
import { PageOfUpgrade, type Upgrade, UpgradeStatus } from "../domain/spec/upgrade";
import { ApiClient } from "./api-client";
import type { Environment } from "./environment";

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
    ids.forEach(({ id, name }) => complete(id, legible(name)));
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

/** An id that may stand where the cursor is, and what it is the id of. */
export interface KnownId {
  readonly id: string;
  readonly name: string;
}

/** Whoever presses Tab waits no longer for the service (milliseconds). */
const timeout = 1500;

/** Commands that take an upgrade, each with the status in which it can be used; the others can be used in several. */
const ofUpgrades: Readonly<Record<string, UpgradeStatus | undefined>> = {
  get: undefined,
  activity: undefined,
  watch: undefined,
  commit: undefined,
  prechecks: "DRAFT",
  reschedule: "SCHEDULED",
  pause: "INPROGRESS",
  resume: "PAUSED",
  cancel: undefined,
  retry: "COMPLETED_WITH_FAILURE",
  resolve: "COMPLETED_WITH_FAILURE",
};

/**
 * The ids that fit where the cursor is, asked of the service. None where no id is wanted, and where the service does not
 * answer at once: a completion must not be in the way. `words`: the command line without the program's name, with the word
 * that has been begun.
 */
export async function knownIds(words: readonly string[], environment: Environment): Promise<readonly KnownId[]> {
  const { command, before, server, position } = readWords(words);
  const options = { signal: AbortSignal.timeout(timeout), once: true } as const;
  try {
    const client = new ApiClient(environment, server);
    if (before === "--bundle" || (command === "bundles" && position === 0)) {
      const { elements = [] } = await client.request("GET", "/v1/bundles", PageOfBundle, options);
      return elements.map(({ id, version = "" }) => ({ id, name: version }));
    }
    if (before === "--cluster" || (command === "clusters" && position === 0)) {
      const { elements = [] } = await client.request("GET", "/v1/clusters", PageOfCluster, options);
      return elements.map(({ id, name }) => ({ id, name }));
    }
    if (!(command in ofUpgrades) || position !== 0) return [];
    const status = ofUpgrades[command];
    const filter = new URLSearchParams({ pageSize: `${largestPage}`, ...(status && { status }) });
    const { elements = [] } = await client.request("GET", `/v1/upgrades?${filter.toString()}`, PageOfUpgrade, options);
    const fitting = command === "commit" ? elements.filter(awaitsCommit) : elements;
    return fitting.map(({ id, status: now = "", bundle, bundleId = "" }) => ({
      id,
      name: `${now} to ${bundle?.version ?? bundleId}`,
    }));
  } catch {
    return [];
  }
}

function awaitsCommit({ status, waitingFor }: Upgrade): boolean {
  return status === "DRAFT" || waitingFor?.code === "COMMIT";
}

/** Options that take a value as the word after them. */
const valued = new Set(["--server", "--output", "-o", "--at", "--status", "--bundle", "--cluster"]);

/** The command, the option whose value is wanted, the server, and how many arguments stand before the cursor. */
function readWords(words: readonly string[]) {
  const known = words.slice(0, -1);
  const isValue = (i: number) => valued.has(known[i - 1] ?? "");
  const [command = "", ...others] = known.filter((word, i) => !word.startsWith("-") && !isValue(i));
  const server = known[known.indexOf("--server") + 1];
  return {
    command,
    before: known.at(-1),
    position: valued.has(known.at(-1) ?? "") ? undefined : others.length,
    server: known.includes("--server") ? server : undefined,
  };
}

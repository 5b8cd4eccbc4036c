import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { legible } from "../domain/legible";
import { largestPage } from "../domain/page";
import { PageOfUpgrade, type Upgrade, type UpgradeStatus } from "../domain/spec/upgrade";
import { ApiClient } from "./api-client";
import { Contexts } from "./config-file";
import type { Environment } from "./environment";
import { phaseWord, statusWords } from "./phases";
import { type Named, type NamedKind, Names, resourceKinds } from "./names";

/** What `--output` takes. */
export const formats = ["table", "wide", "json", "yaml", "name"] as const;

/** One of them. */
export type Format = (typeof formats)[number];

/** The hidden command that a shell's script asks. */
const asking = "complete";

/** The words of a command line that a shell asks to complete; undefined where it is no such question. */
export function wordsToComplete([command, dashes, ...words]: readonly string[]): readonly string[] | undefined {
  return command === asking && dashes === "--" ? words : undefined;
}

/**
 * Adds `completion SHELL`, which prints a script for the shell, and the hidden command that the script asks. `lastWord` is
 * what stands before the cursor, `offers` the names and ids that fit there.
 */
export function addCompletion(program: Command, lastWord: string, offers: readonly Offer[]): void {
  const root = tab(program, { completionCommandName: "completion" });
  const offer = (command: string, option: string, values: () => readonly string[]) => {
    const found = root.commands.get(command)?.options.get(option);
    if (found) found.handler = (complete) => values().forEach((value) => complete(value, ""));
  };
  for (const command of ["start", "plan"]) offer(command, "file", () => filesFor(lastWord));
  offer("list", "status", () => lastOf(lastWord, statusWords));
  const offerNamed = (complete: (value: string, description: string) => void) =>
    offers.forEach(({ value, description }) => complete(value, legible(description)));
  for (const command of root.commands.values()) {
    // Of a command that takes a name it is the only argument.
    for (const argument of command.arguments.values()) argument.handler ??= offerNamed;
    for (const name of Object.keys(kindOfOption)) {
      const option = command.options.get(name);
      if (option) option.handler = offerNamed;
    }
    // What every command takes is known to the root only.
    command.option(
      "output",
      "tables for people, JSON or YAML for scripts, or only ids",
      (complete) => formats.forEach((one) => complete(one, "")),
      "o",
    );
    command.option("server", "the service's address", () => undefined);
    command.option("context", "which context to use", offerNamed);
    command.option("zone", "the time zone of times", offerNamed);
  }
}

/** Values that may follow a comma. */
function lastOf(begun: string, values: readonly string[]): string[] {
  const earlier = begun.slice(0, begun.lastIndexOf(",") + 1);
  return values.map((value) => earlier + value);
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

/** A name or id that may stand where the cursor is, and what it stands for. */
export interface Offer {
  readonly value: string;
  readonly description: string;
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
  acknowledge: undefined,
  reschedule: "SCHEDULED",
  pause: "INPROGRESS",
  resume: "PAUSED",
  cancel: undefined,
  retry: "COMPLETED_WITH_FAILURE",
  resolve: "COMPLETED_WITH_FAILURE",
};

/** What commands take as their argument, and options as their value. */
const kindOfCommand: Readonly<Record<string, NamedKind>> = {
  bundles: "bundle",
  clusters: "cluster",
  hold: "cluster",
  release: "cluster",
  servers: "server",
  netvirt: "netvirt",
  personalities: "personality",
  isos: "iso",
};
const kindOfOption: Readonly<Record<string, readonly NamedKind[]>> = {
  bundle: ["bundle"],
  to: ["bundle"],
  cluster: ["cluster"],
  like: ["upgrade"],
  resource: resourceKinds,
  only: resourceKinds,
  skip: ["cluster"],
};

/**
 * What fits where the cursor is, asked of the service where it is the service's. Nothing where no name is wanted, and where
 * the service does not answer at once: a completion must not be in the way. `words`: the command line without the program's
 * name, with the word that has been begun.
 */
export async function offersFor(words: readonly string[], environment: Environment): Promise<readonly Offer[]> {
  const { command, option, server, context, position, begun } = readWords(words);
  const options = { signal: AbortSignal.timeout(timeout), once: true } as const;
  try {
    if (option === "zone") return Intl.supportedValuesOf("timeZone").map((value) => ({ value, description: "" }));
    const contexts = new Contexts(environment, context);
    if (option === "context" || (command === "context" && position === 0))
      return [...contexts.all].map(([value, { server: address }]) => ({ value, description: address }));
    const client = new ApiClient(environment, contexts, server);
    const argument = position === 0 ? kindOfCommand[command] : undefined;
    const named = option === undefined ? argument && [argument] : kindOfOption[option];
    if (named) {
      const names = new Names(client);
      const lists = await Promise.all(named.map((kind) => names.all(kind, options)));
      const all = lists.flat();
      return all.flatMap((one) => offersOf(one, all, begun));
    }
    if (!(command in ofUpgrades) || position !== 0) return [];
    const status = ofUpgrades[command];
    const filter = new URLSearchParams({ pageSize: `${largestPage}`, ...(status && { status }) });
    const { elements = [] } = await client.request("GET", `/v1/upgrades?${filter.toString()}`, PageOfUpgrade, options);
    const fitting = command === "commit" ? elements.filter(awaitsCommit) : elements;
    return fitting.map((upgrade) => ({
      value: upgrade.id,
      description: `${phaseWord(upgrade)}: ${upgrade.name ?? upgrade.bundle?.version ?? ""}`,
    }));
  } catch {
    return [];
  }
}

/**
 * The usual name of something, unless a shell would take it apart, and its id where that has been begun or is the only way
 * to tell it from another. Values of a list follow a comma.
 */
function offersOf({ id, names: [name = id], detail }: Named, all: readonly Named[], begun: string): readonly Offer[] {
  const earlier = begun.slice(0, begun.lastIndexOf(",") + 1);
  const isWord = !/[\s,]/.test(name);
  const isShared = all.filter(({ names }) => names[0] === name).length > 1;
  const isBegun = begun.length > earlier.length && id.startsWith(begun.slice(earlier.length));
  return [
    ...(isWord ? [{ value: earlier + name, description: detail }] : []),
    ...(isBegun || isShared || !isWord ? [{ value: earlier + id, description: detail }] : []),
  ];
}

function awaitsCommit({ status, waitingFor }: Upgrade): boolean {
  return status === "DRAFT" || waitingFor?.code === "COMMIT";
}

/** Options that take a value as the word after them, by all of their names. */
const valued: Readonly<Record<string, string>> = {
  "-o": "output",
  "-c": "cluster",
  "-f": "file",
  "-u": "username",
  ...Object.fromEntries(
    ["output", "server", "context", "zone", "at", "file", "status", "username", "idempotency-key"]
      .concat(["search", "since", "sort", "limit"])
      .concat(Object.keys(kindOfOption))
      .map((name) => [`--${name}`, name]),
  ),
};

/** The command, the option whose value is wanted, the service, and how many arguments stand before the cursor. */
function readWords(words: readonly string[]) {
  const known = words.slice(0, -1);
  const isValue = (i: number) => valued[known[i - 1] ?? ""] !== undefined;
  const [command = "", ...others] = known.filter((word, i) => !word.startsWith("-") && !isValue(i));
  const valueOf = (option: string) => (known.includes(option) ? known[known.indexOf(option) + 1] : undefined);
  const option = valued[known.at(-1) ?? ""];
  return {
    command,
    option,
    position: option === undefined ? others.length : undefined,
    server: valueOf("--server"),
    context: valueOf("--context"),
    begun: words.at(-1) ?? "",
  };
}

import type { RetrySpec, SkipSpec } from "../domain/spec/upgrade-spec";
import type { AddCommand, CommandContext } from "./command-context";
import { change, control, type ControlOptions, nameLines, withConfirmation } from "./control-commands";
import { type ExitCode, inTermsOfOptions } from "./errors";
import { ofUpgrade } from "./names";
import { watch } from "./watch";

interface SkipOptions extends Pick<ControlOptions, "yes"> {
  readonly cluster: string;
  readonly host?: string;
  readonly reason: string;
}

interface RetryOptions extends Pick<ControlOptions, "watch"> {
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  readonly skipHost?: readonly string[];
  readonly reason?: string;
}

const collected = (one: string, before: readonly string[] = []) => [...before, ...one.split(",")];
const several = "repeat the option, or separate several by commas";

/** `skip`, which leaves something out, and `retry`, which may be of a part. */
export function addSkipCommands(add: AddCommand): void {
  withConfirmation(
    add("skip", "Leave out a cluster or a host that has not begun or has failed", [
      'upgradectl skip ID --cluster Production --host esx-07 --reason "Power supply in repair"',
      'upgradectl skip ID --cluster Production --reason "Not tonight" --yes',
    ])
      .argument("<upgrade>", ofUpgrade)
      .requiredOption("--cluster <name>", "a cluster of the upgrade, by its name or id")
      .option("--host <name>", "only this host of it, by its name or id")
      .requiredOption("--reason <text>", "the reason, shown with the upgrade"),
  ).action(add.runWithId(skip));
  add("retry", "Retry a failed upgrade, or a part of it; finished work is not repeated", [
    "upgradectl retry ID",
    "upgradectl retry ID --only Production --watch",
    'upgradectl retry ID --skip-host esx-07 --reason "Power supply in repair"',
  ])
    .argument("<upgrade>", ofUpgrade)
    .option("--only <name>", `retry only this cluster or server; ${several}`, collected)
    .option("--skip <name>", `leave out this cluster from now on; ${several}`, collected)
    .option("--skip-host <name>", `leave out this host from now on; ${several}`, collected)
    .option("--reason <text>", "why something is left out")
    .option("-w, --watch", "follow it until it ends")
    .action(add.runWithId(retry));
}

async function skip(context: CommandContext, id: string, options: SkipOptions): Promise<ExitCode> {
  const { cluster, host, reason, yes } = options;
  const resourceId = await context.names.idOf("cluster", cluster);
  await context.confirm(`Leave out ${host === undefined ? cluster : `host ${host} of ${cluster}`}?`, yes, async () => [
    ...(await nameLines(context, id)),
    "It is not upgraded, and the upgrade ends with a warning.",
  ]);
  const body: SkipSpec = { resourceId, reason, ...(host !== undefined && { hostId: host }) };
  return send(context, id, "skip", body);
}

async function retry(context: CommandContext, id: string, options: RetryOptions): Promise<ExitCode> {
  const { only, skip: without, skipHost, reason, watch: follow } = options;
  if (!only && !without && !skipHost && reason === undefined) return change(context, "PATCH", id, options);
  const idsOf = (names: readonly string[]) => Promise.all(names.map((name) => context.names.resourceId(name)));
  const body: RetrySpec = {
    ...(only && { resourceIds: await idsOf(only) }),
    ...(without && { skipResources: await idsOf(without) }),
    ...(skipHost && { skipHosts: [...skipHost] }),
    ...(reason !== undefined && { reason }),
  };
  const code = await send(context, id, "retry", body, follow);
  return follow ? watch(context, id, { isKnown: true }) : code;
}

async function send(
  context: CommandContext,
  id: string,
  name: "skip" | "retry",
  body: SkipSpec | RetrySpec,
  silent = false,
): Promise<ExitCode> {
  try {
    return await control(context, "POST", `/v1/upgrades/${encodeURIComponent(id)}/${name}`, body, silent);
  } catch (error) {
    throw inTermsOfOptions(error, optionOf);
  }
}

function optionOf(path: string): string | undefined {
  const options: Readonly<Record<string, string>> = {
    resourceId: "--cluster",
    hostId: "--host",
    reason: "--reason",
    resourceIds: "--only",
    skipResources: "--skip",
    skipHosts: "--skip-host",
  };
  return options[path.replace(/\[.*$/, "")];
}

import { type Freeze, FreezeStatus } from "../domain/freeze";
import { legible } from "../domain/legible";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";

interface FreezeOptions {
  readonly reason?: string;
  readonly domain?: readonly string[];
  readonly until?: string;
}

const collected = (one: string, before: readonly string[] = []) => [...before, ...one.split(",")];

/** The emergency stop: `freeze` and `thaw`. */
export function addFreezeCommands(add: AddCommand): void {
  add("freeze", "Emergency stop: nothing new begins, hosts in work finish; without options, show what is frozen", [
    'upgradectl freeze --reason "Hosts lose storage after the upgrade"',
    'upgradectl freeze --reason "Storage maintenance" --domain fra1 --until "06:00"',
    "upgradectl freeze",
  ])
    .option("--reason <text>", "the reason, shown to everybody who waits for the end of the freeze")
    .option("--domain <id>", "only this domain; repeat the option, or separate several by commas", collected)
    .option("--until <time>", "lift it automatically at this time")
    .action(add.run(freeze));
  add("thaw", "Lift the emergency stop, so that upgrades continue", [
    "upgradectl thaw",
    "upgradectl thaw --domain fra1",
  ])
    .option(
      "--domain <id>",
      "only the freeze of this domain; repeat the option, or separate several by commas",
      collected,
    )
    .action(add.run(thaw));
}

async function freeze(context: CommandContext, { reason, domain, until }: FreezeOptions): Promise<ExitCode> {
  if (reason === undefined) {
    if (domain !== undefined || until !== undefined) throw wrongUsage("freeze needs a reason.", "Add --reason TEXT.");
    return show(context, await context.client.request("GET", path, FreezeStatus));
  }
  const body = {
    reason,
    ...(domain && { domains: domain }),
    ...(until !== undefined && { until: context.readTime(until) }),
  };
  try {
    return show(context, await context.client.request("PUT", path, FreezeStatus, { body }));
  } catch (error) {
    throw inTermsOfOptions(error, optionOf);
  }
}

async function thaw(context: CommandContext, { domain }: Pick<FreezeOptions, "domain">): Promise<ExitCode> {
  const [first, ...others] = domain?.map((id) => `${path}?domain=${encodeURIComponent(id)}`) ?? [path];
  let status = await context.client.request("DELETE", first ?? path, FreezeStatus);
  for (const other of others) status = await context.client.request("DELETE", other, FreezeStatus);
  return show(context, status);
}

const path = "/v1/freeze";

function optionOf(field: string): string | undefined {
  if (field.startsWith("domain")) return "--domain";
  return { reason: "--reason", until: "--until" }[field];
}

function show(context: CommandContext, status: FreezeStatus): ExitCode {
  const { freezes, hostsInWork = 0 } = status;
  context.print(status, () => (freezes.length === 0 ? ["Nothing is frozen."] : freezes.map(lineOf)));
  if (freezes.length === 0) return exitCode.successful;
  if (hostsInWork > 0) context.say(`${hostsInWork === 1 ? "1 host" : `${hostsInWork} hosts`} in work will finish.`);
  context.say("Next: `upgradectl thaw` lifts it.");
  return exitCode.successful;
}

function lineOf({ domain, reason, frozenBy, since, until }: Freeze): string {
  const what = domain === undefined ? "Everything" : `Domain ${domain}`;
  const end = until === undefined ? "" : `, until ${until}`;
  return legible(`${what} has been frozen by ${frozenBy} since ${since}${end}: ${reason}`);
}

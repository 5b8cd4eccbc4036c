import { Hold, PageOfHold } from "../domain/hold";
import { legible } from "../domain/legible";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";

interface HoldOptions {
  readonly host?: string;
  readonly reason?: string;
  readonly until?: string;
}

const ofHost = "only this host of the cluster: its id or name";

/** `hold`, `release` and `holds`: clusters of which nothing begins, and hosts that upgrades leave out. */
export function addHoldCommands(add: AddCommand): void {
  add("hold <cluster>", "Hold a cluster, so that nothing of it begins; with --host, upgrades leave that host out", [
    'upgradectl hold fra1-prod-cl01 --reason "Its storage is being replaced" --until "Fri 18:00"',
    'upgradectl hold fra1-prod-cl01 --host fra1-esx-03 --reason "Waiting for a mainboard"',
  ])
    .option("--reason <text>", "the reason, shown to everybody who waits for the end of the hold")
    .option("--host <host>", ofHost)
    .option("--until <time>", "end it automatically at this time")
    .action(add.runWithName(hold));
  add(
    "release <cluster>",
    "Release a cluster or, with --host, one of its hosts; another operator's hold needs the role ADMIN",
    ["upgradectl release fra1-prod-cl01", "upgradectl release fra1-prod-cl01 --host fra1-esx-03"],
  )
    .option("--host <host>", ofHost)
    .action(add.runWithName(release));
  add("holds", "List what is held, by whom, why and until when", ["upgradectl holds"]).action(add.run(holds));
}

async function hold(
  context: CommandContext,
  cluster: string | undefined,
  { host, reason, until }: HoldOptions,
): Promise<ExitCode> {
  if (reason === undefined) throw wrongUsage("hold needs a reason.", "Add --reason TEXT.");
  const body = { reason, ...(until !== undefined && { until: context.readTime(until) }) };
  const path = await pathOf(context, cluster, host);
  try {
    const placed = await context.client.request("PUT", path, Hold, { body });
    context.print(placed, () => [lineOf(placed)]);
  } catch (error) {
    throw inTermsOfOptions(error, (field) => ({ reason: "--reason", until: "--until" })[field]);
  }
  context.say("Next: `upgradectl release` ends it.");
  return exitCode.successful;
}

async function release(
  context: CommandContext,
  cluster: string | undefined,
  { host }: Pick<HoldOptions, "host">,
): Promise<ExitCode> {
  const path = await pathOf(context, cluster, host);
  await context.client.open("DELETE", path);
  context.say(host === undefined ? "The cluster is not held." : "The host is not held.");
  return exitCode.successful;
}

async function holds(context: CommandContext): Promise<ExitCode> {
  const page = await context.client.request("GET", "/v1/holds", PageOfHold);
  const { elements = [] } = page;
  context.print(page, () => (elements.length === 0 ? ["Nothing is held."] : elements.map(lineOf)));
  return exitCode.successful;
}

async function pathOf(context: CommandContext, cluster = "", host: string | undefined): Promise<string> {
  const id = await context.names.idOf("cluster", cluster);
  const ofCluster = `/v1/clusters/${encodeURIComponent(id)}`;
  return host === undefined ? `${ofCluster}/hold` : `${ofCluster}/hosts/${encodeURIComponent(host)}/hold`;
}

function lineOf({ clusterName, hostId, hostName = hostId, reason, placedBy, since, until }: Hold): string {
  const what = hostName === undefined ? `Cluster ${clusterName}` : `Host ${hostName} of cluster ${clusterName}`;
  const end = until === undefined ? "" : `, until ${until}`;
  return legible(`${what} has been held by ${placedBy} since ${since}${end}: ${reason}`);
}

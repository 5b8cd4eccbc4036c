import { InvalidArgumentError, Option } from "commander";
import { legible } from "../domain/legible";
import { largestPage } from "../domain/page";
import { PageOfUpgrade, type Upgrade } from "../domain/spec/upgrade";
import { UpgradeCounts, UpgradeSort } from "../domain/upgrade/attention";
import { allPages } from "./all-pages";
import type { AddCommand, CommandContext } from "./command-context";
import { Screen } from "./display";
import { CliError, exitCode, type ExitCode, inTermsOfOptions, type OptionOf } from "./errors";
import { nameAndValue } from "./request-options";
import { phaseText, sections, statusFilter } from "./phases";
import { cut, styleFor } from "./text";
import { parsePastTime, timeEcho } from "./time-text";
import { statusView, upgradesTable } from "./upgrade-views";

interface ListOptions {
  readonly status?: string;
  readonly bundle?: string;
  readonly cluster?: string;
  readonly resource?: string;
  readonly search?: string;
  readonly change?: string;
  readonly label?: readonly string[];
  readonly sort?: string;
  readonly since?: string;
  readonly limit?: number;
  readonly watch?: true;
}

/** How often a list that is watched is read, in milliseconds. */
const watchMilliseconds = 5000;
/** How many upgrades a list that is watched has where no limit is given. */
const watchLimit = 100;

/** `list` and `status`: many upgrades at once. */
export function addListCommands(add: AddCommand): void {
  add("status", "Show on one screen what needs you, what is running and what is next", [
    "upgradectl status",
    "upgradectl status --watch",
  ])
    .option("-w, --watch", "show it until Ctrl-C")
    .action(add.run(status));
  add("list", "List upgrades, those that need you first", [
    "upgradectl list --status needs-you,running",
    "upgradectl list --status failed --since yesterday -o wide",
    "upgradectl list --search alice --sort ended --limit 20",
    "upgradectl list --label team=blue --label environment=production",
    "upgradectl list --status drafts -o name",
    "upgradectl list --watch",
  ])
    .option("--status <status>", "only these, such as needs-you, running, drafts, failed or INPROGRESS")
    .option("--bundle <bundle>", "only upgrades to this bundle: version, name or id")
    .option("--cluster <cluster>", "only upgrades of this cluster: name or id")
    .addOption(
      new Option(
        "--resource <resource>",
        "only upgrades of this cluster, management server or NETVIRT instance",
      ).conflicts("cluster"),
    )
    .option(
      "--search <text>",
      "only upgrades with these words: names of clusters and creators, change ids, or the beginning of an id",
    )
    .option("--change <id>", "only upgrades with this change record")
    .option(
      "--label <name=value>",
      "only upgrades with this label; can be repeated",
      (text: string, before: readonly string[] | undefined) => [...(before ?? []), nameAndValue(text).join("=")],
    )
    .option(
      "--since <time>",
      'only upgrades that entered their phase at this time or later, such as "8h" or "yesterday 18:00"',
    )
    .addOption(new Option("--sort <order>", "in this order").choices(Object.keys(UpgradeSort.keys)))
    .option("--limit <number>", "at most this many", wholeNumber)
    .option("-w, --watch", `show it until Ctrl-C; at most ${watchLimit} without --limit`)
    .action(add.run(list));
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number of at least 1.");
}

async function list(context: CommandContext, options: ListOptions): Promise<ExitCode> {
  const { style } = context;
  const read = await listReader(context, options);
  if (options.watch) {
    const draw = (upgrades: readonly Upgrade[], room: Room) =>
      upgradesTable(upgrades, { style, columns: room.columns, now: context.environment.now(), isWide: context.isWide });
    return live(context, { read: async () => (await read()).elements, draw, toJson: (elements) => ({ elements }) });
  }
  const { elements, total } = await read();
  const { columns } = context;
  context.print({ elements }, () =>
    upgradesTable(elements, { style, columns, now: context.environment.now(), isWide: context.isWide }),
  );
  if (elements.length === 0) context.say("None found.");
  if (total > elements.length && options.limit === undefined && options.since === undefined)
    context.say(`${total - elements.length} more exist, but the service could not read them; its log has the reason.`);
  return exitCode.successful;
}

/** Options by the query parameters that they become. */
const optionOf: OptionOf = (path) =>
  ({
    status: "--status",
    phase: "--status",
    search: "--search",
    changeId: "--change",
    label: "--label",
    sort: "--sort",
    pageSize: "--limit",
  })[path];

/** Reads the list that the options ask for, each time it is called. */
async function listReader(context: CommandContext, options: ListOptions) {
  const { client, names, environment } = context;
  const { status: statuses, bundle, cluster, resource, search, change, label, sort, since, limit } = options;
  const zones = context.zones;
  const after = since === undefined ? undefined : parsePastTime(since, zones, environment.now());
  if (after !== undefined) context.say(`Since: ${timeEcho(after, zones, environment.now())}`);
  const filter = {
    ...(statuses !== undefined && statusFilter(statuses)),
    ...(bundle !== undefined && { bundleId: await names.idOf("bundle", bundle) }),
    ...(cluster !== undefined && { resourceId: await names.idOf("cluster", cluster) }),
    ...(resource !== undefined && { resourceId: await names.resourceId(resource) }),
    ...(search !== undefined && { search }),
    ...(change !== undefined && { changeId: change }),
    ...(label && { label: label.join(",") }),
    ...(sort !== undefined && { sort }),
  };
  const most = limit ?? (options.watch ? watchLimit : Infinity);
  // What has not changed since may stand anywhere in the list.
  const pageSize = after === undefined ? Math.min(most, largestPage) : largestPage;
  const isYoung = ({ since: from }: Upgrade) =>
    after === undefined || (from !== undefined && Date.parse(from) >= after);
  return async () => {
    try {
      const { elements, total } = await allPages(
        (paging) => {
          const query = new URLSearchParams({ ...filter, ...paging, pageSize: `${pageSize}` });
          return client.request("GET", `/v1/upgrades?${query.toString()}`, PageOfUpgrade);
        },
        (found) => after === undefined && found.size >= most,
      );
      return { elements: elements.filter(isYoung).slice(0, most), total };
    } catch (error) {
      throw inTermsOfOptions(error, optionOf);
    }
  };
}

interface Status {
  readonly counts: UpgradeCounts;
  readonly elements: readonly Upgrade[];
}

async function status(context: CommandContext, { watch: isWatched }: { readonly watch?: true }): Promise<ExitCode> {
  const { client, style, zones } = context;
  const open = sections.filter(({ word }) => word !== "ended").flatMap(({ phases }) => phases);
  const query = new URLSearchParams({ phase: open.join(","), pageNumber: "0", pageSize: `${watchLimit}` });
  const read = async (): Promise<Status> => {
    const counts = await client.request("GET", "/v1/upgrades/counts", UpgradeCounts);
    const { elements = [] } = await client.request("GET", `/v1/upgrades?${query.toString()}`, PageOfUpgrade);
    return { counts, elements };
  };
  const draw = ({ counts, elements }: Status, { columns, rows }: Partial<Room>) =>
    statusView(elements, counts, { style, columns, rows, now: context.environment.now(), zone: zones.given });
  if (isWatched) return live(context, { read, draw, toJson: (now) => now });
  const now = await read();
  // The line of the prompt stays free.
  const { rows } = context.environment.stdout;
  context.print(now, () =>
    draw(now, {
      ...(context.columns !== undefined && { columns: context.columns }),
      ...(context.columns !== undefined && rows !== undefined && { rows: rows - 1 }),
    }),
  );
  return exitCode.successful;
}

interface Room {
  readonly columns: number;
  readonly rows: number;
}

interface Live<A> {
  readonly read: () => Promise<A>;
  readonly draw: (value: A, room: Room) => readonly string[];
  readonly toJson: (value: A) => { readonly elements: readonly Upgrade[] };
}

/**
 * Shows what changes until Ctrl-C: drawn again in a terminal, elsewhere a line for each upgrade that has changed, and as
 * JSON a document for each change. A service that is away is asked again.
 */
async function live<A>(context: CommandContext, { read, draw, toJson }: Live<A>): Promise<ExitCode> {
  const { environment, isJson } = context;
  const { stdout } = environment;
  let value: A | undefined;
  let notice: string | undefined;
  const style = styleFor(stdout, environment);
  const picture = ({ columns, rows }: Room) => {
    const foot = notice === undefined ? [] : [style.yellow(cut(legible(notice), columns))];
    const lines = value === undefined ? [] : draw(value, { columns, rows: rows - foot.length });
    return [...lines.slice(0, rows - foot.length), ...foot];
  };
  const screen = context.columns !== undefined && !isJson ? new Screen(environment, picture) : undefined;
  let shown = new Map<string, string>();
  const showChanges = (elements: readonly Upgrade[], now: A) => {
    const rows = new Map(elements.map((one) => [one.id, JSON.stringify([one.phase, one.status, one.hosts])]));
    const changed = elements.filter(({ id }) => rows.get(id) !== shown.get(id));
    const isChanged = changed.length > 0 || rows.size !== shown.size;
    shown = rows;
    if (isJson && isChanged) context.printJsonLine(toJson(now));
    if (!isJson) for (const one of changed) stdout.write(`${changeLine(context, one)}\n`);
  };
  try {
    for (;;) {
      try {
        value = await read();
        notice = undefined;
        if (screen) screen.drawSoon();
        else showChanges(toJson(value).elements, value);
      } catch (error) {
        if (!(error instanceof CliError) || error.code !== exitCode.notReachable || value === undefined) throw error;
        if (!screen && notice === undefined) context.say(`${error.message} Reading it again.`);
        notice = error.message;
        screen?.drawSoon();
      }
      await environment.wait(watchMilliseconds);
    }
  } finally {
    notice = undefined;
    screen?.close();
  }
}

function changeLine({ environment, style }: CommandContext, upgrade: Upgrade): string {
  const { id, name = "", hosts } = upgrade;
  const counts = hosts ? `  ${hosts.done}/${hosts.total}` : "";
  return `${new Date(environment.now()).toISOString()} ${legible(id)}  ${phaseText(style, upgrade)}  ${legible(name)}${counts}`;
}

import { distanceWords, roughDuration } from "../domain/duration";
import { legible } from "../domain/legible";
import { labelTexts } from "../domain/spec/change-record";
import type { MaintenanceOverride, UpgradeReasons } from "../domain/spec/maintenance-override";
import type { SubTask, Task } from "../domain/spec/task";
import type { Upgrade, UpgradeApprovals, UpgradeHosts } from "../domain/spec/upgrade";
import type { UpgradeCounts } from "../domain/upgrade/attention";
import { toTimestamp } from "../domain/timestamp";
import { findingLines, findingsText, stepAfterFailedPrechecks } from "./finding-lines";
import { phaseText, sections, timeText } from "./phases";
import { headline, nextStepOf, summary } from "./progress-tree";
import { coloured, cut, minute, plain, type Style, symbolOf, table } from "./text";
import { shortTimeIn, timeIn } from "./time-text";

/** For whom and when upgrades are shown. */
interface ListRoom {
  readonly style: Style;
  /** Of the terminal; absent where the output is none. */
  readonly columns?: number | undefined;
  readonly now: number;
  readonly isWide: boolean;
}

/** The list of upgrades. */
export function upgradesTable(upgrades: readonly Upgrade[], { style, columns, now, isWide }: ListRoom): string[] {
  const short = shortIdLength(upgrades);
  const wide = ["STATUS OF THE API", "FROM", "TO", "CREATED", "BEGINS", "WORKED", "ENDED", "CHANGE", "LABELS"];
  return table(
    ["ID", "STATUS", "NAME", "HOSTS", "TIME", "BY", ...(isWide ? wide : [])],
    upgrades.map((upgrade) => [
      plain(columns === undefined || isWide ? upgrade.id : upgrade.id.slice(0, short)),
      phaseText(style, upgrade),
      plain(nameOf(upgrade)),
      hostsText(upgrade.hosts),
      timeText(upgrade, now),
      plain(upgrade.createdBy),
      ...(isWide ? wideCells(upgrade, now) : []),
    ]),
    { columns, elastic: ["NAME"], optional: [...wide, "BY", "HOSTS", "TIME"] },
  );
}

function wideCells(upgrade: Upgrade, now: number): string[] {
  const { status, versions = [], createdAt, beginsAt, endTime, changeId, labels } = upgrade;
  return [
    plain(status),
    plain(each(versions.flatMap(({ from = [] }) => from))),
    plain(each(versions.flatMap(({ to }) => to))),
    minute(createdAt),
    minute(beginsAt),
    workText(upgrade, now),
    minute(endTime === undefined ? undefined : toTimestamp(endTime)),
    plain(changeId),
    plain(labelTexts(labels).join(", ")),
  ];
}

/** Versions of several products, each once. */
function each(versions: readonly string[]): string {
  return [...new Set(versions)].join(", ");
}

function nameOf({ name, bundleId }: Upgrade): string {
  return name ?? `bundle ${bundleId}`;
}

function hostsText(hosts: UpgradeHosts | undefined): string {
  if (!hosts) return "-";
  const { done, total, failed, leftOut = 0 } = hosts;
  return `${done}/${total}${failed > 0 ? `, ${failed} failed` : ""}${leftOut > 0 ? `, ${leftOut} left out` : ""}`;
}

function workText({ workSeconds = 0, workingSince }: Upgrade, now: number): string {
  const worked = workSeconds * 1000 + (workingSince === undefined ? 0 : Math.max(now - Date.parse(workingSince), 0));
  return worked === 0 ? "-" : roughDuration(worked);
}

/** One upgrade: where it stands, then each part with its stages while it runs, and what has failed. */
export function upgradeView(
  upgrade: Upgrade,
  task: Task,
  { style, now, zone }: { readonly style: Style; readonly now: number; readonly zone: string },
): string[] {
  const next = upgrade.phase === "PRECHECKS_FAILED" ? stepAfterFailedPrechecks(task, now) : nextStepOf(task);
  const findings = findingLines(task, { style, now, zone });
  return [
    style.bold(headline(task)),
    `${plain(upgrade.id)}   ${phaseText(style, upgrade)} (${upgrade.status ?? "-"})`,
    ...factLines(upgrade, now, zone),
    summary(task, now, upgrade),
    "",
    ...(task.subTasks ?? []).flatMap((part) => partLines(part, "", style)),
    ...(findings.length > 0 ? ["", "Findings of the prechecks:", ...findings, ""] : []),
    ...(task.errors ?? []).map(({ message }) => style.red(`✖ ${legible(message)}`)),
    ...(next === "" ? [] : [`Next: ${legible(next)}`]),
  ];
}

/** What is known of an upgrade beside its parts. */
function factLines(upgrade: Upgrade, now: number, zone: string): string[] {
  const { createdAt, createdBy, committedAt, committedBy, beginsAt, startedAt, decideBy, windowClosesAt } = upgrade;
  const { versions = [], leftOut = [], approvals, findings } = upgrade;
  const at = (time: string) => `${timeIn(Date.parse(time), zone)}, ${distanceWords(Date.parse(time), now)}`;
  const by = (name: string | undefined) => (name === undefined ? "" : ` by ${legible(name)}`);
  const worked = workText(upgrade, now);
  const lines: readonly (readonly [label: string, text: string | undefined])[] = [
    ["Created", createdAt && `${at(createdAt)}${by(createdBy)}`],
    ["Committed", committedAt && `${at(committedAt)}${by(committedBy)}`],
    ["Begins", startedAt === undefined && beginsAt !== undefined ? at(beginsAt) : undefined],
    ["Began", startedAt && at(startedAt)],
    ["Window", windowClosesAt && `closes ${at(windowClosesAt)}`],
    ["Worked", worked === "-" ? undefined : worked],
    ["Decide by", decideBy && at(decideBy)],
    ...leftOut.map(({ name, hostName, reasonCode }) => {
      const what = hostName === undefined ? name : `host ${hostName} of ${name}`;
      return ["Left out", `${legible(what)}, ${reasonCode}`] as const;
    }),
    ...versions.map(({ product, from = [], to }) => {
      const before = from.length > 0 ? `${from.join(", ")} to ` : "to ";
      return [product, legible(`${before}${to.join(", ")}`)] as const;
    }),
    ["Approvals", approvals && approvalsText(approvals)],
    ["Findings", findings && findingsText(findings)],
    ...changeRecordLines(upgrade),
    ["Waits", upgrade.waitingFor && legible(upgrade.waitingFor.message)],
  ];
  return lines.flatMap(([label, text]) => (text === undefined || text === "" ? [] : [`${label.padEnd(10)} ${text}`]));
}

function approvalsText({ required, given }: UpgradeApprovals): string {
  const names = given.map(({ by, comment }) => (comment === undefined ? by : `${by} (${comment})`)).join(", ");
  return legible(`${given.length} of ${required}${names === "" ? "" : `: ${names}`}`);
}

/** Why something is made, a label and a text for each line. */
export function changeRecordLines({
  reason,
  changeId,
  labels,
  maintenanceOverride,
}: UpgradeReasons): (readonly [string, string])[] {
  return [
    ["Change", legible(changeId ?? "")],
    ["Reason", legible(reason ?? "")],
    ["Labels", legible(labelTexts(labels).join(", "))],
    ["Windows", maintenanceOverride ? `ignored${overrideWords(maintenanceOverride)}` : ""],
  ];
}

function overrideWords({ by, reason }: MaintenanceOverride): string {
  return legible(`${by === undefined ? "" : ` by ${by}`}: ${reason}`);
}

interface StatusRoom {
  readonly style: Style;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  readonly now: number;
  readonly zone: string;
}

/** What needs somebody, what is in work, what is next and which drafts there are; on one screen where there is one. */
export function statusView(upgrades: readonly Upgrade[], counts: UpgradeCounts, room: StatusRoom): string[] {
  const { rows = Infinity } = room;
  const caps = Number.isFinite(rows) ? [50, 20, 12, 8, 6, 5, 4, 3, 2, 1] : [Infinity];
  const views = caps.map((most) => () => statusLines(upgrades, counts, room, most));
  for (const view of views) {
    const lines = view();
    if (lines.length <= rows) return lines;
  }
  return statusLines(upgrades, counts, room, 1);
}

function statusLines(
  upgrades: readonly Upgrade[],
  counts: UpgradeCounts,
  { style, columns, now, zone }: StatusRoom,
  most: number,
): string[] {
  const short = shortIdLength(upgrades);
  const countOf = (phases: readonly string[]) =>
    counts.phases.reduce((sum, { phase, upgrades: some }) => sum + (phases.includes(phase) ? some : 0), 0);
  const wanting = upgrades.filter((one) => approvalsMissing(one) > 0);
  const countIn = (word: string, phases: readonly string[]) =>
    Math.max(0, countOf(phases) + (word === "needs-you" ? wanting.length : word === "drafts" ? -wanting.length : 0));
  const header = sections.map(({ title, word, phases }) => `${title} ${countIn(word, phases)}`).join("   ");
  const fit = (line: string) => (columns === undefined ? line : cut(line, columns));
  const bodies = sections
    .filter(({ word }) => word !== "ended")
    .flatMap(({ title, word, phases }) => {
      const inPhase = upgrades.filter(({ phase }) => phase !== undefined && phases.some((one) => one === phase));
      const all = [...inPhase.filter((one) => !wanting.includes(one)), ...(word === "needs-you" ? wanting : [])];
      if (all.length === 0) return [];
      const shown = all.slice(0, most);
      const left = Math.max(countIn(word, phases), all.length) - shown.length;
      const lines = table(
        ["ID", "STATUS", "NAME", "HOSTS", "TIME", "BY"],
        shown.map((upgrade) => [
          plain(upgrade.id.slice(0, short)),
          phaseText(style, upgrade),
          plain(nameOf(upgrade)),
          hostsText(upgrade.hosts),
          word === "scheduled" ? beginText(upgrade, now, zone) : timeText(upgrade, now),
          plain(upgrade.createdBy),
        ]),
        { columns, elastic: ["NAME"], optional: ["BY", "HOSTS"] },
      );
      const why = (upgrade: Upgrade) => {
        const { waitingFor, phase, id } = upgrade;
        const missing = approvalsMissing(upgrade);
        if (missing > 0)
          return [fit(`  ! Approvals missing: ${missing}. Next: \`upgradectl approve ${id.slice(0, short)}\`.`)];
        if (!waitingFor || (word !== "needs-you" && phase !== "WAITING" && phase !== "PRECHECKS_FAILED")) return [];
        return [fit(`  ${phase === "WAITING" ? "·" : "!"} ${legible(waitingFor.message)}`)];
      };
      // Where the terminal is too narrow for columns, a row has several lines.
      const hasColumns = lines.length === shown.length + 1;
      const rows = lines.slice(1).flatMap((line, i) => [line, ...(shown[i] ? why(shown[i]) : [])]);
      return [
        "",
        style.bold(word === "scheduled" ? `${title} (times in ${zone})` : title),
        ...(hasColumns ? rows : [...lines, ...shown.flatMap(why)]),
        ...(left > 0 ? [style.dim(`… and ${left} more: \`upgradectl list --status ${word}\``)] : []),
      ];
    });
  return [fit(header), ...bodies];
}

/** How many approvals a draft lacks that is ready for its commit: it needs others than who has made it. */
function approvalsMissing({ phase, approvals }: Upgrade): number {
  return phase === "DRAFT_READY" && approvals ? Math.max(0, approvals.required - approvals.given.length) : 0;
}

/** How many characters of ids are enough to tell these apart; commands take them in the place of the whole id. */
function shortIdLength(upgrades: readonly Upgrade[]): number {
  const isEnough = (length: number) => new Set(upgrades.map(({ id }) => id.slice(0, length))).size === upgrades.length;
  return [8, 13, 18, 23].find(isEnough) ?? Infinity;
}

function beginText(upgrade: Upgrade, now: number, zone: string): string {
  const { until, beginsAt = until } = upgrade;
  if (beginsAt === undefined) return timeText(upgrade, now);
  const begin = Date.parse(beginsAt);
  return `${shortTimeIn(begin, zone)}, ${distanceWords(begin, now)}`;
}

function partLines(part: SubTask, indent: string, style: Style): string[] {
  const { status, name, stages = [], errors = [], subTasks = [] } = part;
  const isOpen = status === "IN_PROGRESS" || status === "FAILED";
  const below = `${indent}  `;
  const shownStages = isOpen ? stages.filter((stage) => stage.status !== "PENDING") : [];
  return [
    `${indent}${coloured(style, status, symbolOf(status))} ${legible(name)}`,
    ...shownStages.map(
      (stage) => `${below}${coloured(style, stage.status, symbolOf(stage.status))} ${legible(stage.name)}`,
    ),
    ...errors.map(({ message }) => style.red(`${below}! ${legible(message)}`)),
    ...subTasks.flatMap((one) => partLines(one, below, style)),
  ];
}

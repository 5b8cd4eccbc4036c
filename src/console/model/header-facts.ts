import { distanceWords, durationWords, leftWords } from "../../domain/duration";
import type { Product } from "../../domain/plan/upgrade-plan";
import { labelTexts } from "../../domain/spec/change-record";
import type { Task } from "../../domain/spec/task";
import type { ProductVersions, PublishedPhase, Upgrade } from "../../domain/spec/upgrade";
import { clustersOf, hostProgressOfTask, remainingMilliseconds } from "./host-progress";
import { plural, shortList, wordsOfPublishedPhase } from "./labels";

/** One fact of an upgrade: words, and times that are shown as the operator has chosen. */
export interface Fact {
  readonly term: string;
  readonly parts: readonly FactPart[];
}

/** A time is in epoch milliseconds; `isExact` where zone and UTC must be there. */
export type FactPart = string | { readonly at: number; readonly isExact?: true };

/** Phases in which nothing of an upgrade has begun. */
const beforeBegin: ReadonlySet<PublishedPhase> = new Set([
  "DRAFT_PRECHECKS",
  "DRAFT_READY",
  "PRECHECKS_FAILED",
  "SCHEDULED",
  "WAITING",
]);

/** What the header of an upgrade tells beside its phase and its hosts. `now` in epoch milliseconds. */
export function headerFacts(upgrade: Upgrade, task: Task, now: number): Fact[] {
  const { createdAt = task.creationTimestamp, createdBy, committedAt, committedBy, decideBy, endTime } = upgrade;
  return [
    { term: "Created", parts: [{ at: Date.parse(createdAt) }, ...by(createdBy)] },
    ...(committedAt === undefined
      ? []
      : [{ term: "Committed", parts: [{ at: Date.parse(committedAt) }, ...by(committedBy)] }]),
    ...beginFacts(upgrade, now),
    ...workFacts(upgrade, now),
    ...windowFacts(upgrade, now),
    ...(endTime === undefined ? endFacts(upgrade, task, now) : [{ term: "Ended", parts: [{ at: endTime }] }]),
    ...(decideBy === undefined
      ? []
      : [
          {
            term: "Decide by",
            parts: [
              { at: Date.parse(decideBy), isExact: true as const },
              `, ${distanceWords(Date.parse(decideBy), now)}`,
            ],
          },
        ]),
    ...versionFacts(upgrade),
    ...approvalFacts(upgrade),
    ...findingFacts(upgrade),
    ...overrideFacts(upgrade),
    ...changeRecordFacts(upgrade),
  ];
}

/** What its latest prechecks have found. */
function findingFacts({ findings }: Upgrade): Fact[] {
  if (!findings) return [];
  const { errors, warnings, acknowledged } = findings;
  const counted = [
    ...(errors > 0 ? [plural(errors, "error")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
    ...(acknowledged > 0 ? [`${acknowledged} acknowledged`] : []),
  ];
  return counted.length === 0 ? [] : [{ term: "Prechecks found", parts: [counted.join(", ")] }];
}

/** Who has approved it, and how many approvals are missing. */
function approvalFacts({ approvals }: Upgrade): Fact[] {
  if (!approvals) return [];
  const { required, given } = approvals;
  const names = given.map(({ by: who, comment }) => (comment === undefined ? who : `${who} (${comment})`));
  return [
    {
      term: "Approvals",
      parts: [[`${given.length} of ${required}`, ...(names.length > 0 ? [names.join(", ")] : [])].join(": ")],
    },
  ];
}

function windowFacts({ windowClosesAt }: Upgrade, now: number): Fact[] {
  if (windowClosesAt === undefined) return [];
  const at = Date.parse(windowClosesAt);
  return [{ term: "Window closes", parts: [{ at, isExact: true }, `, ${distanceWords(at, now)}`] }];
}

function overrideFacts({ maintenanceOverride }: Upgrade): Fact[] {
  if (!maintenanceOverride) return [];
  const { reason, at, by: who } = maintenanceOverride;
  return [{ term: "Maintenance windows", parts: ["ignored", ...by(who), ", ", { at: Date.parse(at) }, `: ${reason}`] }];
}

function changeRecordFacts({ reason, changeId, labels }: Upgrade): Fact[] {
  const texts = labelTexts(labels);
  return [
    ...(changeId === undefined ? [] : [{ term: "Change", parts: [changeId] }]),
    ...(reason === undefined ? [] : [{ term: "Reason", parts: [reason] }]),
    ...(texts.length === 0 ? [] : [{ term: "Labels", parts: [texts.join(", ")] }]),
  ];
}

function by(who: string | undefined): string[] {
  return who === undefined ? [] : [` by ${who}`];
}

function beginFacts({ startedAt, beginsAt, phase = "WAITING" }: Upgrade, now: number): Fact[] {
  const began = startedAt === undefined ? [] : [{ term: "Began", parts: [{ at: Date.parse(startedAt) }] }];
  if (beginsAt === undefined)
    return startedAt === undefined && beforeBegin.has(phase)
      ? [{ term: "Begins", parts: [phase === "WAITING" ? "as soon as possible" : "when it is committed"] }]
      : began;
  const at = Date.parse(beginsAt);
  if (at <= now && startedAt !== undefined) return began;
  const isOpen = startedAt !== undefined || beforeBegin.has(phase);
  if (!isOpen) return began;
  const term = startedAt === undefined ? "Begins" : "Next start";
  return [...began, { term, parts: [{ at, isExact: true }, `, ${distanceWords(at, now)}`] }];
}

/** Work and waiting, since the first resource began. */
function workFacts({ startedAt, workSeconds, workingSince, endTime }: Upgrade, now: number): Fact[] {
  if (startedAt === undefined || workSeconds === undefined) return [];
  const worked = workSeconds * 1000 + (workingSince === undefined ? 0 : Math.max(0, now - Date.parse(workingSince)));
  const waited = Math.max(0, (endTime ?? now) - Date.parse(startedAt) - worked);
  return [
    { term: "Worked", parts: [durationWords(worked)] },
    // Less than a few seconds is the time of the service itself.
    ...(waited < 5000 ? [] : [{ term: "Waited", parts: [durationWords(waited)] }]),
  ];
}

/** As the service expects it; where that does not know yet, by the hosts that are done. */
function endFacts({ expectedEnd, phase }: Upgrade, task: Task, now: number): Fact[] {
  if (phase !== undefined && phase !== "RUNNING") return [];
  const remaining = remainingMilliseconds(task, now);
  const end = expectedEnd === undefined ? remaining && now + remaining : Date.parse(expectedEnd);
  if (end === undefined) return [];
  return [{ term: "Expected end", parts: [{ at: end }, `, ${leftWords(end - now)}`] }];
}

const productNames: Readonly<Record<Product, string>> = {
  NETVIRT: "network virtualization",
  MGMT: "management servers",
  HOSTOS: "hosts",
};

function versionFacts({ versions = [], hostVersions = [] }: Upgrade): Fact[] {
  const changes = versions.map((one) =>
    versions.length === 1 && one.product === "HOSTOS" ? change(one) : `${productNames[one.product]} ${change(one)}`,
  );
  const hosts = hostVersions.map(({ version, hosts: count }) => `${plural(count, "host")} on ${version}`);
  return [
    ...(changes.length > 0 ? [{ term: "Versions", parts: [changes.join("; ")] }] : []),
    ...(hosts.length > 0 ? [{ term: "Now", parts: [hosts.join(", ")] }] : []),
  ];
}

function change({ from = [], to }: ProductVersions): string {
  return from.length === 0 ? `to ${to.join(", ")}` : `${from.join(", ")} → ${to.join(", ")}`;
}

/** The names of the clusters of an upgrade, as its Task or else its own resources tell them. */
export function clusterNames({ resourceUpgradeSpecs = [], resources = [] }: Upgrade, task: Task): string[] {
  const known = [...clustersOf(task).flatMap((cluster) => cluster.resources ?? []), ...resources];
  return resourceUpgradeSpecs.map(
    ({ resourceId }) => known.find((one) => one.resourceId === resourceId)?.name ?? resourceId,
  );
}

/** The title of the browser's tab: `46/128 fra1-prod to 9.0.2`, with a sign where an operator has to look. */
export function pageTitle(upgrade: Upgrade | undefined, task: Task): string {
  const { total, done } = hostProgressOfTask(task);
  const to = upgrade?.versions?.find(({ product }) => product === "HOSTOS")?.to ?? [];
  const version = to.length > 0 ? to.join(", ") : upgrade?.bundle?.version;
  const names = upgrade ? clusterNames(upgrade, task) : [];
  const what = names.length > 0 && version !== undefined ? `${shortList(names)} to ${version}` : task.name;
  const words = upgrade?.phase && wordsOfPublishedPhase(upgrade.phase);
  return [...(words?.tone === "bad" ? [words.sign] : []), ...(total > 0 ? [`${done}/${total}`] : []), what].join(" ");
}

import { awaitsLateCommit } from "../../domain/late-start";
import type { Task } from "../../domain/task";
import type { Upgrade } from "../../domain/upgrade";
import { counted } from "./counted";
import { clustersOf, hostProgressOfTask } from "./host-progress";
import { shortList } from "./short-list";

/** What an upgrade consists of now, in the words of a sentence. */
interface Facts {
  readonly clusters: string;
  readonly version: string;
  /** When which cluster begins; empty where nothing says so. */
  readonly schedule: readonly string[];
  /** Hosts in work, by name; empty where there are none. */
  readonly running: string;
  readonly done: number;
  readonly failed: number;
  readonly left: number;
  readonly hasBegun: boolean;
}

/** What each operation would do to this upgrade as it is now: a few sentences each, for the one who has to confirm. */
export function consequencesOf(upgrade: Upgrade, task: Task) {
  const facts = factsOf(upgrade, task);
  const { clusters, version, schedule, running, done, left } = facts;
  const finished = running && `${running} ${running.includes(" and ") ? "are" : "is"}`;
  return {
    commit: awaitsLateCommit(task)
      ? [`What missed its start will be brought to ${version}.`, "Without a time it begins at once."]
      : [
          `${clusters} will be held for this upgrade alone, and brought to ${version}.`,
          ...(schedule.length > 0
            ? ["Without a time here the schedule stays:", ...schedule]
            : ["Without a time here it begins at once."]),
        ],
    reschedule: [
      `${clusters} will begin at the new time, all of them.`,
      ...(schedule.length > 0 ? ["Until now the schedule was:", ...schedule] : []),
    ],
    prechecks: [`The prechecks of ${clusters} run again. They change nothing; earlier runs stay to be read.`],
    pause: [
      finished ? `${finished} finished first, with the retries left.` : "No host is in work.",
      left > 0 ? `${counted(left, "host")} will not begin until you resume.` : "Nothing new begins until you resume.",
    ],
    resume: [
      left > 0
        ? `${counted(left, "host")} of ${clusters} will go on to ${version}.`
        : "It goes on where it was paused.",
      ...(done > 0 ? [`${counted(done, "host")} done already will not be touched again.`] : []),
    ],
    retry: [
      facts.hasBegun
        ? `${counted(facts.failed, "failed host")} and ${counted(left, "host")} not begun in ${clusters} will be tried, under the same id.`
        : `What failed will be tried again from its beginning, for ${clusters}, under the same id.`,
      ...(done > 0 ? [`${counted(done, "host")} done already will not be upgraded again.`] : []),
    ],
    resolve: [
      "The upgrade ends as failed for good: it cannot be retried any more.",
      ...remainders(facts, facts.left + facts.failed === 1 ? "stays as it is" : "stay as they are"),
    ],
    cancel: cancelWords(facts, upgrade.status, finished),
  };
}

function cancelWords(facts: Facts, status: Upgrade["status"], finished: string): string[] {
  if (status === "DRAFT") return ["The draft is given up. No host has been touched, and none will be."];
  if (!facts.hasBegun)
    return [`${facts.clusters} will not be upgraded.`, ...facts.schedule, "No host has been touched so far."];
  return [
    finished ? `${finished} brought to a safe end first, so this may take a while.` : "No host is in work.",
    ...remainders(facts, "will not be upgraded"),
    "A cancelled upgrade cannot be taken up again.",
  ];
}

function remainders({ done, failed, left, version }: Facts, fate: string): string[] {
  return [
    ...(done > 0 ? [`${counted(done, "host")} done ${done === 1 ? "stays" : "stay"} at ${version}.`] : []),
    ...(left + failed > 0 ? [`${counted(left + failed, "host")} not done ${fate}.`] : []),
  ];
}

function factsOf({ bundle, resourceUpgradeSpecs = [] }: Upgrade, task: Task): Facts {
  const parts = clustersOf(task);
  const { total, done, failed, left } = hostProgressOfTask(task);
  const nameOf = (id: string) =>
    parts.flatMap(({ resources = [] }) => resources).find(({ resourceId }) => resourceId === id)?.name ?? id;
  const names = resourceUpgradeSpecs.map(({ resourceId }) => nameOf(resourceId));
  const running = parts
    .flatMap(({ subTasks = [] }) => subTasks)
    .filter(({ status }) => status === "IN_PROGRESS")
    .map(({ name }) => name);
  return {
    clusters: names.length > 0 ? shortList(names) : "All of its clusters",
    version: bundle?.version ?? "the version of its bundle",
    schedule: scheduleOf(resourceUpgradeSpecs, nameOf),
    running: shortList(running),
    done,
    failed,
    left,
    hasBegun: total > 0,
  };
}

/** The clusters that begin at the same time in one line. */
function scheduleOf(specs: NonNullable<Upgrade["resourceUpgradeSpecs"]>, nameOf: (id: string) => string): string[] {
  const times = new Map<string, string[]>();
  for (const { resourceId, scheduledTimestamp, upgradeNow } of specs)
    if (scheduledTimestamp !== undefined && upgradeNow !== true)
      times.set(scheduledTimestamp, [...(times.get(scheduledTimestamp) ?? []), nameOf(resourceId)]);
  return [...times]
    .sort(([a], [b]) => Date.parse(a) - Date.parse(b))
    .map(([time, names]) => `${shortList(names)} at ${new Date(time).toLocaleString()}.`);
}

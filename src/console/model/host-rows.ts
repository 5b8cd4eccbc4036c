import type { SubTask, Task } from "../../domain/spec/task";
import type { ProductVersions } from "../../domain/spec/upgrade";
import { hostSpanOf } from "./host-progress";
import { type StatusWords, wordsOfPart } from "./labels";

/** Hosts by what an operator does about them; in the order of attention. */
export const hostGroups = ["FAILED", "RUNNING", "WAITING", "DONE", "LEFT_OUT"] as const;
export type HostGroup = (typeof hostGroups)[number];

/** One host of an upgrade in the table of hosts. Times are epoch milliseconds. */
export interface HostRow {
  /** Of its row in the tree of steps. */
  readonly key: string;
  readonly group: HostGroup;
  readonly status: StatusWords;
  readonly host: string;
  readonly cluster: string;
  /** What is done with it now or was done last; empty where nothing was. */
  readonly step: string;
  /** How far that step is, 0 to 100. */
  readonly percent?: number;
  readonly began?: number;
  readonly end?: number;
  readonly attempt?: number;
  readonly maximumAttempts?: number;
  /** What it runs, where the versions of the upgrade leave no doubt. */
  readonly version?: string;
}

/** What the table can be sorted by. */
export type HostColumn = "status" | "host" | "cluster" | "step" | "percent" | "began" | "took" | "attempt" | "version";

/** Which hosts are shown, in which order. */
export interface HostView {
  /** Part of a host's, cluster's or step's name or of a version. */
  readonly search: string;
  readonly group: HostGroup | "ALL";
  readonly sort: { readonly column: HostColumn; readonly isDescending: boolean };
}

/** Those that need attention first, in the order of the upgrade. */
export const firstHostView: HostView = {
  search: "",
  group: "ALL",
  sort: { column: "status", isDescending: false },
};

const groupOf: Readonly<Record<SubTask["status"], HostGroup>> = {
  FAILED: "FAILED",
  IN_PROGRESS: "RUNNING",
  PENDING: "WAITING",
  SUCCESSFUL: "DONE",
  NOT_APPLICABLE: "LEFT_OUT",
};

/** Every host of an upgrade whose cluster has been read, in the order of the upgrade. */
export function hostRows({ subTasks = [] }: Task, versions: readonly ProductVersions[] = []): HostRow[] {
  const ofHosts = versions.find(({ product }) => product === "HOSTOS");
  const version = { from: single(ofHosts?.from), to: single(ofHosts?.to) };
  const rows: HostRow[] = [];
  subTasks.forEach((product, p) =>
    (product.subTasks ?? []).forEach((cluster, c) => {
      if (cluster.type !== "CLUSTER_UPGRADE") return;
      const name = cluster.resources?.[0]?.name ?? cluster.name;
      (cluster.subTasks ?? []).forEach((host, h) =>
        rows.push(toRow(host, `/subTasks/${p}/subTasks/${c}/subTasks/${h}`, name, version)),
      );
    }),
  );
  return rows;
}

function single(values: readonly string[] = []): string | undefined {
  return values.length === 1 ? values[0] : undefined;
}

interface Versions {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

function toRow(host: SubTask, key: string, cluster: string, versions: Versions): HostRow {
  const { name, status, reasonCode, progressPercent, attempt, maximumAttempts } = host;
  const span = hostSpanOf(host);
  const isAtTarget = status === "SUCCESSFUL" || reasonCode === "AT_TARGET";
  const isUntouched = status === "PENDING" || reasonCode === "NOT_STARTED";
  const version = isAtTarget ? versions.to : isUntouched ? versions.from : undefined;
  return {
    key,
    group: groupOf[status],
    status: wordsOfPart(status, reasonCode),
    host: name,
    cluster,
    step: stepOf(host),
    ...(status === "IN_PROGRESS" && progressPercent !== undefined && { percent: progressPercent }),
    ...(span && { began: span.begin }),
    ...(span?.end !== undefined && { end: span.end }),
    ...(attempt !== undefined && { attempt }),
    ...(maximumAttempts !== undefined && { maximumAttempts }),
    ...(version !== undefined && { version }),
  };
}

function stepOf({ status, stages = [], waitingFor }: SubTask): string {
  if (waitingFor) return waitingFor.message;
  if (status !== "IN_PROGRESS" && status !== "FAILED") return "";
  const failed = stages.findLast((stage) => stage.status === "FAILED");
  const current = stages.find((stage) => stage.status === "IN_PROGRESS");
  return (status === "FAILED" ? failed : current)?.name ?? "";
}

/** How long a host took, or has taken by `now`. */
export function tookOf({ began, end }: HostRow, now: number): number | undefined {
  return began === undefined ? undefined : Math.max(0, (end ?? now) - began);
}

/** The hosts of a view; `now` only counts where they are sorted by how long they took. */
export function viewHosts(rows: readonly HostRow[], { search, group, sort }: HostView, now: number): HostRow[] {
  const sought = search.trim().toLowerCase();
  const shown = rows.filter(
    (row) =>
      (group === "ALL" || row.group === group) &&
      (sought === "" ||
        `${row.host}\n${row.cluster}\n${row.step}\n${row.version ?? ""}`.toLowerCase().includes(sought)),
  );
  const valueOf = values[sort.column];
  const sign = sort.isDescending ? -1 : 1;
  // What has no value comes last in both directions.
  return shown
    .map((row) => ({ row, value: valueOf(row, now) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined);
      return sign * compare(a.value, b.value);
    })
    .map(({ row }) => row);
}

type Value = string | number | undefined;

const values: Readonly<Record<HostColumn, (row: HostRow, now: number) => Value>> = {
  status: ({ group }) => hostGroups.indexOf(group),
  host: ({ host }) => host,
  cluster: ({ cluster }) => cluster,
  step: ({ step }) => (step === "" ? undefined : step),
  percent: ({ percent }) => percent,
  began: ({ began }) => began,
  took: tookOf,
  attempt: ({ attempt }) => attempt,
  version: ({ version }) => version,
};

/** `esx-2` before `esx-10`. */
const names = new Intl.Collator("en", { numeric: true });

function compare(a: string | number, b: string | number): number {
  return typeof a === "number" && typeof b === "number" ? a - b : names.compare(String(a), String(b));
}

/** How many hosts are in each group. */
export function countGroups(rows: readonly HostRow[]): Readonly<Record<HostGroup, number>> {
  const counts = { FAILED: 0, RUNNING: 0, WAITING: 0, DONE: 0, LEFT_OUT: 0 };
  for (const { group } of rows) counts[group] += 1;
  return counts;
}

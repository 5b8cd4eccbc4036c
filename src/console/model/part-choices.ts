import type { ReasonCode, SubTask, Task } from "../../domain/spec/task";
import { isLeftOut } from "../../domain/task/left-out";
import { clustersOf } from "./host-progress";

/** A part of an upgrade that a request may be about. */
export interface PartChoice {
  readonly label: string;
  /** What of the request's body names it. */
  readonly part: { readonly resourceId?: string; readonly hostId?: string; readonly resourceIds?: readonly string[] };
}

/** What of one cluster can be left out. */
export interface ChoiceGroup {
  readonly label: string;
  readonly choices: readonly PartChoice[];
}

const notBegun: ReadonlySet<ReasonCode | undefined> = new Set<ReasonCode>(["NOT_STARTED", "EARLIER_PRODUCT_FAILED"]);

function isOpen({ status, reasonCode }: SubTask): boolean {
  return status === "PENDING" || status === "FAILED" || notBegun.has(reasonCode);
}

/** Whether something of an upgrade that goes on can be left out. */
export function mayLeaveOut(task: Task): boolean {
  const clusters = clustersOf(task);
  return clusters.some(
    (cluster) => isWhollyOpen(cluster, clusters) || (hasOpenHosts(cluster) && hostsOf(cluster).some(isOpen)),
  );
}

/** Clusters and hosts that have not begun or have failed. */
export function skipChoices(task: Task): readonly ChoiceGroup[] {
  const clusters = clustersOf(task);
  return clusters.flatMap((cluster): readonly ChoiceGroup[] => {
    const { resourceId, name } = named(cluster);
    const hosts = hasOpenHosts(cluster) ? hostsOf(cluster).filter(isOpen) : [];
    const choices = [
      ...(isWhollyOpen(cluster, clusters) ? [{ label: `All of ${name}`, part: { resourceId } }] : []),
      ...hosts.map((host) => ({ label: host.name, part: { resourceId, hostId: named(host).resourceId } })),
    ];
    return choices.length === 0 ? [] : [{ label: name, choices }];
  });
}

/** The last cluster is not left out as a whole. */
function isWhollyOpen(cluster: SubTask, clusters: readonly SubTask[]): boolean {
  return isOpen(cluster) && clusters.some((other) => other !== cluster && !isLeftOut(other));
}

function hasOpenHosts(cluster: SubTask): boolean {
  return isOpen(cluster) || cluster.status === "IN_PROGRESS";
}

function hostsOf({ subTasks = [] }: SubTask): readonly SubTask[] {
  return subTasks;
}

/** What of a failed upgrade can be retried; none where there is no choice. */
export function retryChoices({ subTasks = [] }: Task): readonly ChoiceGroup[] {
  const open = subTasks
    .filter(({ type }) => type !== "PRECHECKS")
    .flatMap((product) => product.subTasks ?? [])
    .filter(isOpen)
    .map(named);
  if (open.length < 2) return [];
  const everything = { label: "Everything that is not done", part: {} };
  const alone = open.map(({ resourceId, name }) => ({ label: `Only ${name}`, part: { resourceIds: [resourceId] } }));
  return [{ label: "Retry", choices: [everything, ...alone] }];
}

function named({ name, resources }: SubTask): { readonly resourceId: string; readonly name: string } {
  const [resource] = resources ?? [];
  return { resourceId: resource?.resourceId ?? "", name: resource?.name ?? name };
}

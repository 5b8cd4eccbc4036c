import * as TE from "fp-ts/TaskEither";
import { type ManagerSilence, silenceOf } from "../domain/manager-silence";
import type { PlannedReceiver } from "../domain/notifications/upgrade-notification";
import type { ClusterFacts, ClusterLookup } from "../domain/plan/facts";
import type { ClusterMember } from "../domain/spec/cluster";
import type { Inventory, NetvirtGroupRead } from "../upgrades/ports";
import type { ClusterEntry, InventoryFile } from "./inventory-file";
import type { NotificationReceiverEntry } from "./notification-receivers";

/**
 * What the inventory asks of component managers; the composition root gives it a driver's reads. The error of one that does
 * not take the service's user has the `code` AUTHENTICATION or AUTHORIZATION.
 */
export interface ComponentManagerReads {
  /** The manager's ids of its clusters. */
  clusters(componentManagerId: string): Promise<ReadonlySet<string>>;
  isImageManaged(componentManagerId: string, cluster: string): Promise<boolean>;
  countHosts(componentManagerId: string, cluster: string): Promise<number>;
  /** The host and edge clusters of a NETVIRT manager's upgrade coordinator. */
  netvirtGroups(componentManagerId: string): Promise<readonly NetvirtGroupRead[]>;
  /** By their names; with the version that the manager knows. */
  hosts(cluster: Pick<ClusterFacts, "componentManagerId" | "cluster" | "kind">): Promise<ClusterMember[]>;
}

/**
 * The inventory of a file, completed by what component managers say at the moment of asking. One that has not answered
 * all that is asked within `patience` milliseconds does not answer: a client waits meanwhile.
 */
export function fileInventory(
  {
    clusters,
    installations,
    notificationReceivers,
    checks,
    calendar,
  }: Pick<InventoryFile, "clusters" | "installations" | "calendar"> &
    Partial<Pick<InventoryFile, "notificationReceivers" | "checks">>,
  reads: ComponentManagerReads,
  timeout = 5000,
): Inventory {
  return {
    installations,
    notifications: [...(notificationReceivers?.values() ?? [])].map(planned),
    checks: [...(checks?.values() ?? [])].map((check) => check.planned),
    clusters: [...clusters.values()],
    openingOf: (places, at = Date.now()) => calendar.at(places, at),
    readHosts: (facts) => inTime(() => reads.hosts(facts), timeout),
    readNetvirtGroups: (id) => inTime(() => reads.netvirtGroups(id), timeout),
    readClusters: (resourceIds, until = Infinity) =>
      TE.fromTask(async () => {
        const deadline = deadlineIn(Math.max(0, Math.min(timeout, until - Date.now())));
        const wanted = new Set(resourceIds);
        const entries = [...wanted].flatMap((id) => clusters.get(id) ?? []);
        const managers = new Map(
          [...new Set(entries.map((entry) => entry.componentManagerId))].map((id) => [id, settled(reads.clusters(id))]),
        );
        const found = await Promise.all(
          entries.map(async (entry) => {
            const answer = Promise.race([lookUp(entry, managers, reads), deadline.passed]);
            return [entry.resourceId, await answer.catch(unread(entry))] as const;
          }),
        );
        deadline.clear();
        const unknown = [...wanted].map((id): [string, ClusterLookup] => [id, { _tag: "Unknown" }]);
        return new Map<string, ClusterLookup>([...unknown, ...found]);
      }),
  };
}

function inTime<A>(read: () => Promise<A>, timeout: number): TE.TaskEither<ManagerSilence, A> {
  return TE.tryCatch(async () => {
    const deadline = deadlineIn(timeout);
    return Promise.race([read(), deadline.passed]).finally(() => deadline.clear());
  }, silenceOf);
}

/** Without what must not reach a history: the URL and the secrets. */
function planned({ id, events, retryHours }: NotificationReceiverEntry): PlannedReceiver {
  return { id, ...(events && { events }), retryHours };
}

/** Its rejection is for whoever waits for it, and must not be unhandled where nobody does yet. */
function settled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function lookUp(
  entry: ClusterEntry,
  managers: ReadonlyMap<string, Promise<ReadonlySet<string>>>,
  reads: ComponentManagerReads,
): Promise<ClusterLookup> {
  const { componentManagerId, cluster } = entry;
  // Nearly all are there, so that nobody waits to hear it first.
  const asked = settled(
    Promise.all([reads.isImageManaged(componentManagerId, cluster), reads.countHosts(componentManagerId, cluster)]),
  );
  const present = await managers.get(componentManagerId);
  if (present?.has(cluster) !== true) return { _tag: "Unknown" };
  const [imageManaged, hostCount] = await asked;
  return { _tag: "Known", facts: { ...entry, kind: imageManaged ? "IMAGE" : "BASELINE", hostCount } };
}

const unread =
  ({ name, componentManagerId }: ClusterEntry) =>
  (error: unknown): ClusterLookup => ({ _tag: "Unread", name, componentManagerId, silence: silenceOf(error) });

function deadlineIn(milliseconds: number) {
  let clear = () => {};
  const passed = new Promise<never>((_, reject) => {
    const late = new Error(`it did not answer within ${Math.ceil(milliseconds) / 1000} seconds`);
    const timer = setTimeout(() => reject(late), milliseconds);
    clear = () => clearTimeout(timer);
  });
  return { passed: settled(passed), clear };
}

import type { PublishedPhase, Upgrade } from "../../domain/spec/upgrade";
import { plural, shortList } from "./labels";

interface BulkRequest {
  readonly method: "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: { readonly scheduledTimestamp?: string };
}

/** Something that can be asked of several upgrades at once: of those that are in a phase that allows it. */
export interface BulkOperation {
  readonly name: "commit" | "reschedule" | "cancel";
  readonly label: string;
  readonly upgrades: readonly Upgrade[];
  /** Sentences for the one who is asked to confirm. */
  readonly consequences: readonly string[];
  /** Whether a time may or must be given with it. */
  readonly time?: "OPTIONAL" | "REQUIRED";
  /** Whether it ends or gives up something. */
  readonly isGrave?: true;
  readonly requestFor: (id: string, at: string | undefined) => BulkRequest;
}

const patch = (id: string, at: string | undefined): BulkRequest => ({
  method: "PATCH",
  path: `/v1/upgrades/${id}`,
  body: at === undefined ? {} : { scheduledTimestamp: at },
});

const operations = [
  {
    name: "commit",
    label: "Commit",
    phases: ["DRAFT_READY"],
    time: "OPTIONAL",
    says: "starts at its own time, or immediately, unless you give a time.",
    requestFor: patch,
  },
  {
    name: "reschedule",
    label: "Reschedule",
    phases: ["SCHEDULED"],
    time: "REQUIRED",
    says: "starts at the new time.",
    requestFor: patch,
  },
  {
    name: "cancel",
    label: "Cancel",
    phases: [
      "DRAFT_PRECHECKS",
      "DRAFT_READY",
      "PRECHECKS_FAILED",
      "SCHEDULED",
      "WAITING",
      "RUNNING",
      "PAUSING",
      "PAUSED",
    ],
    isGrave: true,
    says: "is cancelled and cannot be resumed.",
    requestFor: (id: string): BulkRequest => ({ method: "DELETE", path: `/v1/tasks/${id}` }),
  },
] as const;

/** What can be done with these upgrades now. Those that it cannot be done with are left alone, and that is said. */
export function bulkOperationsOf(chosen: readonly Upgrade[]): BulkOperation[] {
  return operations.flatMap(({ phases, says, ...operation }) => {
    const allowed: readonly PublishedPhase[] = phases;
    const upgrades = chosen.filter(({ phase }) => phase !== undefined && allowed.includes(phase));
    if (upgrades.length === 0) return [];
    const others = chosen.length - upgrades.length;
    return [
      {
        ...operation,
        upgrades,
        consequences: [
          `${shortList(namesOf(upgrades))}.`,
          `Each ${says}`,
          ...(operation.name === "cancel" ? hostsInWork(upgrades) : hostsToDo(upgrades)),
          ...(others > 0
            ? [
                `${plural(others, "chosen upgrade")} ${others === 1 ? "does not allow this now and stays" : "do not allow this now and stay"} unchanged.`,
              ]
            : []),
        ],
      },
    ];
  });
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** Names, with the beginning of the id where several have the same. */
function namesOf(upgrades: readonly Upgrade[]): string[] {
  const names = upgrades.map(({ name, id }) => name ?? id);
  return upgrades.map(({ id, name = id }) =>
    names.filter((other) => other === name).length > 1 ? `${name} (${id.slice(0, 8)})` : name,
  );
}

function hostsInWork(upgrades: readonly Upgrade[]): string[] {
  const running = sum(upgrades.map(({ hosts }) => hosts?.running ?? 0));
  return running > 0
    ? [`${plural(running, "host")} being upgraded ${running === 1 ? "finishes" : "finish"} safely first.`]
    : [];
}

function hostsToDo(upgrades: readonly Upgrade[]): string[] {
  const left = sum(upgrades.map(({ hosts }) => (hosts ? hosts.total - hosts.done : 0)));
  return left > 0 ? [`${plural(left, "host")} to upgrade in all.`] : [];
}

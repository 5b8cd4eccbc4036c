import type { FindingCounts, FindingSeverity } from "../../domain/spec/finding";
import type { Task, TaskStatus } from "../../domain/spec/task";
import { plural, type StatusWords } from "./labels";
import type { PrecheckedResource } from "./precheck-runs";

const notReady: StatusWords = { tone: "bad", sign: "✕", word: "Not ready" };
const ready: StatusWords = { tone: "good", sign: "✓", word: "Ready" };
const readyWithWarnings: StatusWords = { tone: "warning", sign: "!", word: "Ready, with warnings" };
const running: StatusWords = { tone: "running", sign: "▶", word: "Running" };
const cancelled: StatusWords = { tone: "off", sign: "–", word: "Cancelled" };
const waiting: StatusWords = { tone: "waiting", sign: "○", word: "Waiting" };

const ofStatuses: Partial<Record<TaskStatus, StatusWords>> = {
  "In Progress": running,
  Successful: ready,
  COMPLETED_WITH_WARNING: readyWithWarnings,
  Failed: notReady,
  Cancelled: cancelled,
};

/** What a readiness check has come to; one that was ended from outside has found nothing out. */
export function wordsOfReadiness({ status, resources = [], errors = [] }: Task): StatusWords {
  const isLost = status === "Failed" && (resources.length === 0 || errors.some(isLoss));
  return isLost ? { ...notReady, word: "Failed" } : (ofStatuses[status] ?? waiting);
}

function isLoss({ errorCode }: { readonly errorCode?: string }): boolean {
  return errorCode === "READINESS_LOST";
}

/** A resource of a readiness check: whether an upgrade could begin, and the numbers of what was found in words. */
export interface ResourceReadiness extends PrecheckedResource {
  readonly words: StatusWords;
  readonly counts: string;
}

/** Where one looks first, from the top. */
const order: readonly StatusWords[] = [notReady, readyWithWarnings, running, waiting, cancelled, ready];

/** The resources of a readiness check, those that are not ready first. */
export function readinessOf(resources: readonly PrecheckedResource[], status: TaskStatus): ResourceReadiness[] {
  return resources
    .map((resource) => {
      if (status === "Cancelled" && isInterrupted(resource))
        return { ...resource, checks: [], words: cancelled, counts: "" };
      const counts = countsOf(resource);
      return { ...resource, words: wordsOfResource(resource, counts), counts: countWords(counts) };
    })
    .sort((a, b) => order.indexOf(a.words) - order.indexOf(b.words));
}

type Counts = Pick<FindingCounts, "errors" | "warnings" | "infos">;

function countsOf({ checks }: PrecheckedResource): Counts {
  const found = checks.flatMap(({ findings }) => findings);
  const count = (severity: FindingSeverity) => found.filter((finding) => finding.severity === severity).length;
  // Of what could not be checked there is an error, and no finding.
  const unfound = checks.filter(({ findings }) => findings.length === 0).flatMap(({ errors }) => errors);
  return { errors: count("ERROR") + unfound.length, warnings: count("WARNING"), infos: count("INFO") };
}

/** What was being checked when the check was cancelled has an error that says so, and says nothing of the resource. */
function isInterrupted({ checks }: PrecheckedResource): boolean {
  return checks.some(({ errors }) => errors.some(({ errorCode }) => errorCode === "CANCELLED"));
}

function wordsOfResource({ status }: PrecheckedResource, { warnings }: Counts): StatusWords {
  switch (status) {
    case "PENDING":
      return waiting;
    case "IN_PROGRESS":
      return running;
    case "SUCCESSFUL":
      return warnings > 0 ? readyWithWarnings : ready;
    case "FAILED":
      return notReady;
    case "NOT_APPLICABLE":
      return cancelled;
  }
}

function countWords({ errors, warnings, infos }: Counts): string {
  return [
    ...(errors > 0 ? [plural(errors, "error")] : []),
    ...(warnings > 0 ? [plural(warnings, "warning")] : []),
    ...(infos > 0 ? [plural(infos, "note")] : []),
  ].join(", ");
}

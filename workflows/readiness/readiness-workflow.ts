import { log, setCurrentDetails, setHandler, upsertMemo, workflowInfo } from "@temporalio/workflow";
import {
  beginReadiness,
  endReadiness,
  newReadiness,
  type ReadinessPlan,
  readinessTask,
  resourceChecked,
} from "../../src/domain/readiness/readiness-task";
import type { Task } from "../../src/domain/spec/task";
import { taskInMemo } from "../../src/domain/task/task-change";
import { now } from "../clock";
import { taskQuery } from "../messages";
import { precheckResource } from "../precheck-resource";
import { tellPrechecks } from "../upgrade/upgrade-log";

/** What a readiness check has come to. */
interface ReadinessResult {
  readonly status: Task["status"];
}

/**
 * Runs the prechecks of an upgrade that is not started: takes no lock and changes nothing. What they find is a result, not a
 * failure. A Temporal Schedule starts it with the same input each time, so its id and time are those of its own run.
 */
export async function readinessWorkflow(plan: ReadinessPlan): Promise<ReadinessResult> {
  const { workflowId } = workflowInfo();
  const began = now();
  let readiness = beginReadiness(newReadiness(plan, workflowId, began), plan, began);
  const task = () => readinessTask(readiness);
  const describe = () => setCurrentDetails(describeReadiness(task(), plan));
  setHandler(taskQuery, task, { description: "The Task of the readiness check, with all findings." });
  log.info("Readiness check started", { name: plan.name, resources: plan.resources.length });
  describe();
  const outcomes = await Promise.allSettled(
    plan.resources.map(async (resource) => {
      const how = { stage: "FIRST_CONTACT", acknowledged: [] } as const;
      const { stages } = await precheckResource(resource, how, plan.waits);
      readiness = resourceChecked(readiness, resource.resourceId, stages, now());
      tellPrechecks(resource, stages);
      describe();
    }),
  );
  // Only a cancellation is one: all else is a failed precheck.
  const rejected = outcomes.find((outcome): outcome is PromiseRejectedResult => outcome.status === "rejected");
  readiness = endReadiness(readiness, now(), rejected !== undefined);
  const ended = task();
  upsertMemo({ task: taskInMemo(ended) });
  describe();
  log.info("Readiness check ended", { status: ended.status });
  if (rejected) throw rejected.reason as Error;
  return { status: ended.status };
}

/** How many resources, and findings of each, the Web UI shows; the Task has all. */
const shown = { resources: 20, findings: 5 };

/** What the Temporal Web UI shows of a readiness check: how far it is, and what it has found of each resource. */
function describeReadiness({ status, subTasks = [] }: Task, { name }: ReadinessPlan): string {
  const done = subTasks.filter((part) => part.status !== "PENDING" && part.status !== "IN_PROGRESS").length;
  const parts = subTasks.slice(0, shown.resources).flatMap((part) => {
    const found = (part.stages ?? []).flatMap(({ findings = [] }) => findings);
    const told = found.slice(0, shown.findings).map(({ severity, message }) => `  - ${severity}: ${message}`);
    const more = found.length > told.length ? [`  - and ${found.length - told.length} more`] : [];
    return [`- **${part.resources?.[0]?.name ?? part.name}**: ${part.status}`, ...told, ...more];
  });
  const rest = subTasks.length - shown.resources;
  return [
    `**${status}**: ${name}`,
    `Checked: ${done} of ${subTasks.length}. It takes no lock and changes nothing.`,
    [...parts, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n"),
  ].join("\n\n");
}

import type { ReadinessPlan } from "../../src/domain/readiness/readiness-task";
import type { Task } from "../../src/domain/spec/task";

/** How many resources, and findings of each, the Web UI shows; the Task has all. */
const shown = { resources: 20, findings: 5 };

/** What the Temporal Web UI shows of a readiness check: how far it is, and what it has found of each resource. */
export function describeReadiness({ status, subTasks = [] }: Task, { name }: ReadinessPlan): string {
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

import Table from "cli-table3";
import type { MeasuredWorkflow } from "./measured-workflow";
import { limitedKinds, temporalLimits } from "./temporal-limits";

/** The most that a Workflow of each type has used, beside what Temporal allows, for docs/scaling.md. */
export function limitsTable(workflows: readonly MeasuredWorkflow[]): string {
  const types = [...new Set(workflows.map(({ type }) => type))].sort();
  const table = new Table({ head: ["", ...types, "limit", "used"], style: { head: [], border: [] } });
  for (const kind of limitedKinds) {
    const mostOf = (of: readonly MeasuredWorkflow[]) => Math.max(...of.map(({ used }) => used[kind]));
    const limit = temporalLimits[kind];
    table.push([
      kind,
      ...types.map((type) => mostOf(workflows.filter((one) => one.type === type))),
      limit,
      `${((mostOf(workflows) / limit) * 100).toFixed(1)} %`,
    ]);
  }
  return table.toString();
}

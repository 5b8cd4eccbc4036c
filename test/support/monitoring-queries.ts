import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

const root = resolve(__dirname, "../..");
const read = (file: string) => readFileSync(resolve(root, file), "utf8");

/** A query and where it is written. */
export interface MonitoringQuery {
  readonly where: string;
  readonly expression: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

/** Every PromQL query of the dashboard, the alert rules and the SLOs. */
export function monitoringQueries(): MonitoringQuery[] {
  const { panels } = JSON.parse(read("deploy/monitoring/grafana/upgrade-management.json")) as { panels: Panel[] };
  const { groups } = parse(read("deploy/monitoring/alerts.yml")) as Rules;
  const objectives = [...read("docs/slo.md").matchAll(/```promql\n(.*?)```/gs)];
  return [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ where: `panel ${title}`, expression: expr })),
    ),
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ where: `alert ${alert}`, expression: expr }))),
    ...objectives.map(([, expression = ""], i) => ({ where: `docs/slo.md, query ${i + 1}`, expression })),
  ];
}

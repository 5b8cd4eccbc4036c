import { parser } from "@prometheus-io/lezer-promql";

/** The metric names of a PromQL expression. Throws where it is none. */
export function metricsIn(expression: string): string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, from, to, node }) => {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`No PromQL at ${from} of: ${expression}`);
      if (type.name === "Identifier" && node.parent?.name === "VectorSelector") names.push(text);
    },
  });
  return names;
}

/** The names of the series that a text in the format of Prometheus has. */
export function seriesIn(exposition: string): Set<string> {
  const lines = exposition.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Set(lines.map((line) => line.split(/[{ ]/)[0] ?? ""));
}

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { monitoringQueries } from "../../support/monitoring-queries";
import { metricsIn } from "../../support/promql";

const folder = resolve(__dirname, "../../../deploy/monitoring");

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

describe("deploy/monitoring", () => {
  for (const { where, expression } of monitoringQueries())
    it(`is PromQL and asks for a metric: ${where}`, () => {
      expect(metricsIn(expression)).not.to.deep.equal([]);
    });

  it("is read by a parser that refuses what is no PromQL, and finds every metric", () => {
    expect(() => metricsIn("sum(rate(ums_upgrades[5m])")).to.throw("No PromQL");
    expect(() => metricsIn("sum by ums_upgrades")).to.throw("No PromQL");
    expect(metricsIn('sum by (le) (rate(a_bucket{x="y"}[5m])) / on (le) b_total > 0.5')).to.deep.equal([
      "a_bucket",
      "b_total",
    ]);
  });

  it("has queries of the dashboard, of alerts and of objectives", () => {
    const places = monitoringQueries().map(({ where }) => where.split(" ")[0]);
    expect(new Set(places)).to.deep.equal(new Set(["panel", "alert", "docs/slo.md,"]));
  });

  it("tells of each alert how bad it is, what it means and what to look at, each under its own name", () => {
    const { groups } = parse(readFileSync(resolve(folder, "alerts.yml"), "utf8")) as { groups: { rules: Rule[] }[] };
    const rules = groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).to.equal(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(["info", "warning", "critical"], alert).to.include(labels.severity);
      expect(annotations.summary, alert).to.be.a("string").and.not.equal("");
      expect(annotations.description, alert).to.be.a("string").and.not.equal("");
    }
  });

  it("puts each panel of the dashboard in a place of its own", () => {
    const text = readFileSync(resolve(folder, "grafana/upgrade-management.json"), "utf8");
    const { panels } = JSON.parse(text) as { panels: { id: number; gridPos: { x: number; y: number } }[] };
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x}/${y}`)).size).to.equal(panels.length);
  });
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { parse } from "yaml";
import { kubernetesFolder } from "../../support/kubernetes-objects";
import { until } from "../../support/service/deployment";
import { temporalCluster } from "./temporal-cluster";

interface Rules {
  readonly rules: { readonly external: readonly { readonly seriesQuery: string }[] };
}

describe("the metric by which workers are scaled", function () {
  this.timeout(240_000);

  it("is told by the Temporal server, with the label that the autoscaler selects by, and counts what waits", async () => {
    const cluster = await temporalCluster();
    const namespace = await cluster.makeNamespace();
    const text = readFileSync(join(kubernetesFolder, "autoscaling-prometheus/adapter-rule.yaml"), "utf8");
    const [rule] = (parse(text) as Rules).rules.external;
    const [, name = "", label = ""] = /^(\w+)\{(.*)\}$/.exec(rule?.seriesQuery ?? "") ?? [];
    // The server writes underscores for the hyphens of a name.
    const labels = [label, `namespace="${namespace.replaceAll("-", "_")}"`];
    let told: string[] = [];
    const backlog = async () => {
      told = (await (await fetch(cluster.metricsUrl)).text()).split("\n").filter((line) => line.startsWith(`${name}{`));
      const ours = told.filter((line) => labels.every((one) => line.includes(one)));
      return ours.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    const connection = await Connection.connect({ address: cluster.address, tls: cluster.certificates.tls });
    try {
      const { workflow } = new Client({ connection, namespace });
      // No worker polls there, so each Workflow's first task waits.
      for (const id of ["one", "two", "three"])
        await workflow.start("nobodyRunsThis", { workflowId: id, taskQueue: "upgrades", args: [] });
      // The server tells it once a minute.
      await until("three tasks wait", async () => (await backlog()) === 3, 150).catch((error: unknown) => {
        throw new Error(`It told:\n${told.join("\n")}`, { cause: error });
      });
      for (const id of ["one", "two", "three"]) await workflow.getHandle(id).terminate();
    } finally {
      await connection.close();
    }
  });
});

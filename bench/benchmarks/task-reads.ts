import type { Client } from "@temporalio/client";
import { lazyClient } from "../../src/temporal/connection";
import { pausedSignal, subTaskQuery, taskWithChildrenQuery } from "../../workflows/messages";
import type { FixtureBenchmark } from "../benchmark";
import { withDistantApi } from "../distant-api";
import type { Fixture } from "../fixture";
import { getTask } from "../get-task";
import { alternate, median, timed } from "../measure";
import type { Measurement } from "../measurement";
import { residentMegabytes } from "../process-usage";
import { startLongUpgrades, terminateUpgrades } from "../upgrades";

/** The Task of a running upgrade of one cluster against a Query of the Workflow that holds most of it. */
export const taskOfOneCluster: FixtureBenchmark = {
  name: "task-64-hosts",
  fleet: () => ({ clusters: 20, hosts: 64 }),
  measure: async (fixture, { quick }) => {
    const [id = ""] = await startLongUpgrades(fixture, 1);
    const [child = ""] = await listChildren(fixture, id);
    const { ours, reference } = await alternate(
      quick ? 60 : 200,
      async () => (await timed(() => getTask(fixture.service.apiUrl, id))).milliseconds,
      async () => (await timed(() => fixture.temporal.workflow.getHandle(child).query(subTaskQuery))).milliseconds,
    );
    await terminateUpgrades(fixture);
    return [
      {
        id: "task-64-hosts",
        title: "GET Task, running, 64 hosts, p50",
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 2.5 },
        steady: true,
      },
    ];
  },
};

/** The Task of a large upgrade against its Queries side by side, and what it costs the API. */
export const taskOfManyClusters: FixtureBenchmark = {
  name: "task-100-clusters",
  fleet: ({ quick }) => ({ clusters: quick ? 20 : 100, hosts: 64 }),
  measure: async (fixture, { quick }) => {
    const { clusters, hosts } = fixture.fleet;
    const [id = ""] = await startLongUpgrades(fixture, clusters);
    const workflows = await listChildren(fixture, id);
    const before = residentMegabytes(fixture.pids("api"));
    let [bytes, memory] = [0, before];
    const { ours, reference } = await alternate(
      quick ? 24 : 16,
      async () => {
        const { milliseconds, result } = await timed(() => getTask(fixture.service.apiUrl, id));
        bytes = result;
        memory = Math.max(memory, residentMegabytes(fixture.pids("api")));
        return milliseconds;
      },
      async () => (await timed(() => queryAll(fixture.temporal, id, workflows))).milliseconds,
    );
    const changed = await alternate(
      quick ? 4 : 8,
      async () => {
        await changeAll(fixture, id, workflows);
        return (await timed(() => getTask(fixture.service.apiUrl, id))).milliseconds;
      },
      async () => (await timed(() => queryAll(fixture.temporal, id, workflows))).milliseconds,
    );
    await terminateUpgrades(fixture);
    const size = `${clusters} clusters x ${hosts} hosts`;
    const measured: Measurement[] = [
      {
        id: "task-100-clusters",
        title: `GET Task, running, ${size}, p50`,
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 1.3 },
        steady: true,
      },
      {
        id: "task-100-clusters-changed",
        title: "The same after something has happened to each cluster, p50",
        value: median(changed.ours),
        reference: median(changed.reference),
        unit: "ms",
        judged: "ratio",
      },
      {
        id: "task-100-clusters-body",
        title: `Body of that Task`,
        value: bytes / 1024 / 1024,
        unit: "MB",
        judged: "value",
        target: { atMost: 8 },
      },
      {
        id: "task-100-clusters-memory",
        title: "Memory of the API beyond what it had before these reads",
        value: memory - before,
        unit: "MB",
        judged: "value",
        target: { atMost: 100 },
      },
    ];
    return measured;
  },
};

/** One way, in milliseconds: as between two halls of a site. */
const distance = 1;

/** The Task of a large upgrade by an API that is not beside its Temporal, against its Queries from there. */
export const taskAtDistance: FixtureBenchmark = {
  name: "task-at-a-distance",
  slow: true,
  fleet: taskOfManyClusters.fleet,
  measure: async (fixture, run) => {
    const { clusters, hosts } = fixture.fleet;
    const [id = ""] = await startLongUpgrades(fixture, clusters);
    const workflows = await listChildren(fixture, id);
    const { ours, reference } = await withDistantApi(fixture, run, distance, async ({ url, temporalAddress }) => {
      const { namespace, tls } = fixture.service.temporalPlace;
      const connection = { address: temporalAddress, ...(tls && { tls }) };
      const temporal = lazyClient({ address: temporalAddress, namespace, connection }, {});
      try {
        return await alternate(
          run.quick ? 12 : 8,
          async () => {
            await changeAll(fixture, id, workflows);
            return (await timed(() => getTask(url, id))).milliseconds;
          },
          async () => (await timed(() => queryAll(temporal, id, workflows))).milliseconds,
        );
      } finally {
        await temporal.connection.close();
      }
    });
    await terminateUpgrades(fixture);
    return [
      {
        id: "task-at-a-distance",
        title: `That Task by an API ${distance} ms from Temporal each way, ${clusters} clusters x ${hosts} changed hosts, p50`,
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "value",
      },
    ];
  },
};

async function listChildren({ temporal }: Fixture, id: string): Promise<string[]> {
  const { children } = await temporal.workflow.getHandle(id).query(taskWithChildrenQuery);
  return children.map(({ workflowId }) => workflowId);
}

/** Tells each cluster that it is not paused, which changes nothing but its history, and waits until all have handled it. */
async function changeAll(fixture: Fixture, id: string, children: readonly string[]): Promise<void> {
  const { workflow } = fixture.temporal;
  await Promise.all(children.map((child) => workflow.getHandle(child).signal(pausedSignal, false)));
  await queryAll(fixture.temporal, id, children);
}

function queryAll({ workflow }: Client, id: string, children: readonly string[]): Promise<unknown> {
  return Promise.all([
    workflow.getHandle(id).query(taskWithChildrenQuery),
    ...children.map((child) => workflow.getHandle(child).query(subTaskQuery)),
  ]);
}

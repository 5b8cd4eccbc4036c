import type { Client } from "@temporalio/client";
import { pausedSignal, subTaskQuery, taskWithChildrenQuery } from "../../workflows/messages";
import { lazyClient } from "../../src/temporal/connection";
import { withDistantApi } from "../distant-api";
import type { StagedExperiment } from "../experiment";
import type { Measured } from "../figure";
import { inTurns, median, percentile, timed } from "../measure";
import { residentMegabytes } from "../process-usage";
import { endUpgrades, startedUpgrades } from "../running-upgrades";
import type { Stage } from "../stage";

/** The Task of a running upgrade of one cluster against a Query of the Workflow that holds most of it. */
export const taskOfOneCluster: StagedExperiment = {
  name: "task-64-hosts",
  needs: () => ({ clusters: 20, hosts: 64 }),
  run: async (stage, { quick }) => {
    const [id = ""] = await startedUpgrades(stage, 1);
    const [child = ""] = await childrenOf(stage, id);
    const { ours, reference } = await inTurns(
      quick ? 60 : 200,
      async () => (await timed(() => getTask(stage.service.apiUrl, id))).milliseconds,
      async () => (await timed(() => stage.temporal.workflow.getHandle(child).query(subTaskQuery))).milliseconds,
    );
    await endUpgrades(stage);
    return [
      {
        id: "task-64-hosts",
        figure: "GET Task, running, 64 hosts, p50",
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
export const taskOfManyClusters: StagedExperiment = {
  name: "task-100-clusters",
  needs: ({ quick }) => ({ clusters: quick ? 20 : 100, hosts: 64 }),
  run: async (stage, { quick }) => {
    const { clusters, hosts } = stage.fleet;
    const [id = ""] = await startedUpgrades(stage, clusters);
    const workflows = await childrenOf(stage, id);
    const before = residentMegabytes(stage.pids("api"));
    let [bytes, memory] = [0, before];
    const { ours, reference } = await inTurns(
      quick ? 24 : 16,
      async () => {
        const { milliseconds, result } = await timed(() => getTask(stage.service.apiUrl, id));
        bytes = result;
        memory = Math.max(memory, residentMegabytes(stage.pids("api")));
        return milliseconds;
      },
      async () => (await timed(() => queryAll(stage.temporal, id, workflows))).milliseconds,
    );
    const changed = await inTurns(
      quick ? 4 : 8,
      async () => {
        await changeAll(stage, id, workflows);
        return (await timed(() => getTask(stage.service.apiUrl, id))).milliseconds;
      },
      async () => (await timed(() => queryAll(stage.temporal, id, workflows))).milliseconds,
    );
    await endUpgrades(stage);
    const size = `${clusters} clusters x ${hosts} hosts`;
    const measured: Measured[] = [
      {
        id: "task-100-clusters",
        figure: `GET Task, running, ${size}, p50`,
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 1.3 },
        steady: true,
      },
      {
        id: "task-100-clusters-changed",
        figure: "The same after something has happened to each cluster, p50",
        value: median(changed.ours),
        reference: median(changed.reference),
        unit: "ms",
        judged: "ratio",
      },
      {
        id: "task-100-clusters-body",
        figure: `Body of that Task`,
        value: bytes / 1024 / 1024,
        unit: "MB",
        judged: "value",
        target: { atMost: 8 },
      },
      {
        id: "task-100-clusters-memory",
        figure: "Memory of the API beyond what it had before these reads",
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
export const taskAtDistance: StagedExperiment = {
  name: "task-at-a-distance",
  slow: true,
  needs: taskOfManyClusters.needs,
  run: async (stage, run) => {
    const { clusters, hosts } = stage.fleet;
    const [id = ""] = await startedUpgrades(stage, clusters);
    const workflows = await childrenOf(stage, id);
    const { ours, reference } = await withDistantApi(stage, run, distance, async ({ url, temporalAddress }) => {
      const { namespace, tls } = stage.service.temporalPlace;
      const connection = { address: temporalAddress, ...(tls && { tls }) };
      const temporal = lazyClient({ address: temporalAddress, namespace, connection }, {});
      try {
        return await inTurns(
          run.quick ? 12 : 8,
          async () => {
            await changeAll(stage, id, workflows);
            return (await timed(() => getTask(url, id))).milliseconds;
          },
          async () => (await timed(() => queryAll(temporal, id, workflows))).milliseconds,
        );
      } finally {
        await temporal.connection.close();
      }
    });
    await endUpgrades(stage);
    return [
      {
        id: "task-at-a-distance",
        figure: `That Task by an API ${distance} ms from Temporal each way, ${clusters} clusters x ${hosts} changed hosts, p50`,
        value: median(ours),
        reference: median(reference),
        unit: "ms",
        judged: "value",
      },
    ];
  },
};

const readers = 32;
const everyMilliseconds = 1000;

/** Many who follow one running upgrade against one who does. */
export const manyReaders: StagedExperiment = {
  name: "readers",
  slow: true,
  needs: () => ({ clusters: 20, hosts: 10 }),
  run: async (stage, { quick }) => {
    const clusters = 10;
    const [id = ""] = await startedUpgrades(stage, clusters);
    const errors: unknown[] = [];
    const seconds = quick ? 8 : 15;
    const { ours, reference } = await inTurns(
      quick ? 1 : 4,
      () => Promise.all(Array.from({ length: readers }, (_, i) => readEachSecond(stage, id, i, { seconds, errors }))),
      async () => {
        const alone: number[] = [];
        // Without a pause, so that one reader gives as many numbers as its p99 needs.
        const until = Date.now() + seconds * 1000;
        while (Date.now() < until) alone.push((await timed(() => getTask(stage.service.apiUrl, id))).milliseconds);
        return alone;
      },
    );
    await endUpgrades(stage);
    const p99 = percentile(ours.flat(2), 0.99);
    const size = `${readers} readers at 1 s, ${clusters} x ${stage.fleet.hosts} hosts`;
    return [
      {
        id: "readers-p99",
        figure: `GET Task, ${size}, p99`,
        value: p99,
        unit: "ms",
        judged: "value",
        target: { atMost: 250 },
      },
      {
        id: "readers-against-one",
        figure: `The same against one reader`,
        value: p99,
        reference: percentile(reference.flat(), 0.99),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 4 },
      },
      {
        id: "readers-errors",
        figure: "Reads of those that failed",
        value: errors.length,
        unit: "",
        judged: "value",
        target: { atMost: 0 },
      },
    ];
  },
};

async function readEachSecond(
  stage: Stage,
  id: string,
  reader: number,
  { seconds, errors }: { readonly seconds: number; readonly errors: unknown[] },
): Promise<number[]> {
  const each: number[] = [];
  // Readers begin when they like: spread over the second.
  const began = Date.now() + (reader / readers) * everyMilliseconds;
  for (let at = began; at < began + seconds * 1000; at += everyMilliseconds) {
    await new Promise((resume) => setTimeout(resume, Math.max(0, at - Date.now())));
    await timed(() => getTask(stage.service.apiUrl, id)).then(
      ({ milliseconds }) => each.push(milliseconds),
      (error: unknown) => errors.push(error),
    );
  }
  return each;
}

/** Bytes of the answer. */
async function getTask(apiUrl: string, id: string): Promise<number> {
  const response = await fetch(`${apiUrl}/v1/tasks/${id}`);
  const body = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`GET task answered ${response.status}`);
  return body.byteLength;
}

async function childrenOf({ temporal }: Stage, id: string): Promise<string[]> {
  const { children } = await temporal.workflow.getHandle(id).query(taskWithChildrenQuery);
  return children.map(({ workflowId }) => workflowId);
}

/** Tells each cluster that it is not paused, which it knows, and waits until all have heard it. */
async function changeAll(stage: Stage, id: string, children: readonly string[]): Promise<void> {
  const { workflow } = stage.temporal;
  await Promise.all(children.map((child) => workflow.getHandle(child).signal(pausedSignal, false)));
  await queryAll(stage.temporal, id, children);
}

function queryAll({ workflow }: Client, id: string, children: readonly string[]): Promise<unknown> {
  return Promise.all([
    workflow.getHandle(id).query(taskWithChildrenQuery),
    ...children.map((child) => workflow.getHandle(child).query(subTaskQuery)),
  ]);
}

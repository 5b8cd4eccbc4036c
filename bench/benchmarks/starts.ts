import { randomUUID } from "node:crypto";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/client";
import { Pool } from "undici";
import type { UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { startWorkflow } from "../../src/temporal/upgrade-executions";
import type { FixtureBenchmark } from "../benchmark";
import type { Fixture } from "../fixture";
import { upgradeRequest } from "../fleet";
import { alternate, median, percentile, runConcurrently } from "../measure";
import { processorSeconds } from "../process-usage";
import { BareApi } from "../reference/bare-api";
import { terminateUpgrades } from "../upgrades";

const atOnce = 32;

/** How many are started before the worker gets time to come after. */
const burstOf = (quick: boolean) => (quick ? atOnce : 2 * atOnce);

/** So many requests until V8 has compiled nearly all that they use: before, the API needs a third more for each. */
const repeatsOf = (quick: boolean) => (quick ? 400 : 2000);

/**
 * POSTs of drafts against starts of the same Workflow with the same input, memo and search attributes. In bursts, with the
 * worker's part of the work done in between: the API lets no more in than workers keep up with, and a bare client does.
 */
export const starts: FixtureBenchmark = {
  name: "starts",
  fleet: ({ quick }) => ({ clusters: quick ? 1 : burstOf(quick), hosts: 2 }),
  measure: async (fixture, { quick }) => {
    const burst = burstOf(quick);
    const plan = await planOf(fixture);
    const measured = (start: Start) => measuredBurst(fixture, burst, start, fixture.pids("api"));
    const api = new Pool(fixture.service.apiUrl, { connections: atOnce });
    const upgrades = () => measured(() => post(api, 0));
    const ofManyClusters = () => measured((index) => post(api, index));
    const workflows = () =>
      measured(() => startWorkflow(fixture.temporal, { ...plan, id: randomUUID() }, { requestedBy: "bench" }));
    // Both sides are warm: a start that is repeated begins nothing, so that workers have no part in it.
    const key = randomUUID();
    await runConcurrently(repeatsOf(quick), atOnce, () => post(api, 0, key));
    await runConcurrently(repeatsOf(quick), atOnce, () => startedBefore(fixture, plan));
    await fixture.untilIdle();
    await upgrades();
    await workflows();
    const { ours, reference } = await alternate(quick ? 8 : 16, upgrades, workflows);
    const many = quick ? undefined : await alternate(8, ofManyClusters, workflows);
    // Not alternating with the others: V8 shrinks the memory of an API that waits longer, and its next burst pays for that.
    const bareApi = quick ? undefined : await postsToBareApi(fixture, plan, burst, workflows);
    await api.close();
    await terminateUpgrades(fixture);
    const throughput = (rounds: typeof ours) => median(rounds.map(({ all }) => (burst / all) * 1000));
    const p99 = (rounds: typeof ours) =>
      percentile(
        rounds.flatMap(({ each }) => each),
        0.99,
      );
    // Of all rounds: the system tells a burst's processor time in hundredths of a second, of which it takes but some ten.
    const perPost = (rounds: typeof ours) =>
      (rounds.reduce((sum, { processorOfApi }) => sum + processorOfApi, 0) / (rounds.length * burst)) * 1000;
    return [
      {
        id: "post-throughput",
        title: `POST throughput, ${atOnce} in flight`,
        value: throughput(ours),
        reference: throughput(reference),
        unit: "/s",
        judged: "ratio",
        target: { atLeast: 0.85 },
        steady: true,
      },
      {
        id: "post-p99",
        title: `POST p99, ${atOnce} in flight`,
        value: p99(ours),
        reference: p99(reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 1.25 },
      },
      {
        id: "post-processor",
        title: "Processor of the API per POST",
        value: perPost(ours),
        unit: "ms",
        judged: "value",
      },
      {
        id: "draft-processor",
        title: "Processor of the worker per draft, until it waits for its commit",
        // By the median: the worker compiles for long, and what it collects in one round was left by others.
        value: (median(ours.map(({ processorOfWorker }) => processorOfWorker)) / burst) * 1000,
        unit: "ms",
        judged: "value",
      },
      ...(bareApi
        ? [
            {
              id: "post-bare-api",
              title: "Throughput of POSTs to a Koa that starts the Workflow and does nothing else",
              value: throughput(bareApi.ours),
              reference: throughput(bareApi.reference),
              unit: "/s",
              judged: "ratio" as const,
            },
            {
              id: "post-bare-api-p99",
              title: "p99 of the same",
              value: p99(bareApi.ours),
              reference: p99(bareApi.reference),
              unit: "ms",
              judged: "ratio" as const,
            },
            {
              id: "post-bare-api-processor",
              title: "Processor of that Koa per POST",
              value: perPost(bareApi.ours),
              unit: "ms",
              judged: "value" as const,
            },
          ]
        : []),
      ...(many
        ? [
            {
              id: "post-throughput-many-clusters",
              title: `The same, each draft of another of ${burst} clusters`,
              value: throughput(many.ours),
              reference: throughput(many.reference),
              unit: "/s",
              judged: "ratio" as const,
            },
          ]
        : []),
    ];
  },
};

type Start = (index: number) => Promise<unknown>;

/** What a burst takes, and of the processor the API until it has answered and the worker until nothing is left to do. */
async function measuredBurst(fixture: Fixture, burst: number, start: Start, apis: readonly number[]) {
  const workers = fixture.pids("worker");
  const [api, worker] = [processorSeconds(apis), processorSeconds(workers)];
  const times = await runConcurrently(burst, atOnce, start);
  const processorOfApi = processorSeconds(apis) - api;
  await fixture.untilIdle();
  return { ...times, processorOfApi, processorOfWorker: processorSeconds(workers) - worker };
}

/** The least that an API can add: bursts of POSTs to one that only starts the Workflow, and of bare starts. */
async function postsToBareApi<A>(fixture: Fixture, plan: UpgradePlan, burst: number, workflows: () => Promise<A>) {
  const bareApi = await BareApi.start(fixture, plan);
  const client = new Pool(bareApi.url, { connections: atOnce });
  try {
    await runConcurrently(repeatsOf(false), atOnce, () => post(client, 0, plan.id));
    await fixture.untilIdle();
    const posts = () => measuredBurst(fixture, burst, () => post(client, 0), [bareApi.pid]);
    await posts();
    return await alternate(8, posts, workflows);
  } finally {
    await client.close();
    bareApi.stop();
  }
}

/** By the cheapest client at hand: what it costs this process is not the service's. */
async function post(api: Pool, cluster: number, key: string = randomUUID()): Promise<void> {
  const { statusCode, body } = await api.request({
    method: "POST",
    path: "/v1/upgrades",
    headers: {
      authorization: "Bearer bench",
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(upgradeRequest(cluster, 1, true)),
  });
  const answer = await body.text();
  if (statusCode !== 202) throw new Error(`POST /v1/upgrades answered ${statusCode}: ${answer}`);
}

/** A start of a Workflow that there is. */
async function startedBefore({ temporal }: Fixture, plan: UpgradePlan): Promise<void> {
  try {
    await startWorkflow(temporal, plan, { requestedBy: "bench" });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** What the service starts an upgrade with. */
async function planOf({ service, temporal }: Fixture): Promise<UpgradePlan> {
  const { id } = await service.startUpgrade(upgradeRequest(0, 1, true));
  const { history } = await temporal.workflowService.getWorkflowExecutionHistory({
    namespace: temporal.options.namespace,
    execution: { workflowId: id },
    maximumPageSize: 1,
  });
  const payload = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return JSON.parse(Buffer.from(payload?.data ?? []).toString()) as UpgradePlan;
}

import { randomUUID } from "node:crypto";
import { upgradesQuery } from "../../src/temporal/visibility";
import { until } from "../../test/support/service/deployment";
import type { FixtureBenchmark } from "../benchmark";
import type { Fixture } from "../fixture";
import { alternate, median, runConcurrently, timed } from "../measure";
import { referenceQueue, withReferenceWorker } from "../reference/reference-worker";
import { runUpgrade, terminateUpgrades } from "../upgrades";

/** Of as many upgrades a hundredth page must be there to be read. */
const sizes = { quick: { upgrades: 1200, page: 10 }, full: { upgrades: 20_000, page: 100 } };
const farPage = 100;

/** The list of upgrades against Visibility itself, and its hundredth page against its first. */
export const lists: FixtureBenchmark = {
  name: "lists",
  fleet: () => ({ clusters: 1, hosts: 2 }),
  measure: async (fixture, { quick }) => {
    const { upgrades, page } = sizes[quick ? "quick" : "full"];
    await seed(fixture, upgrades);
    await fixture.untilIdle();
    const read = async (pageNumber: number) => (await timed(() => getPage(fixture, pageNumber, page))).milliseconds;
    // Before any page near it was read: the list reaches a far page only through all before it.
    const cold = await read(farPage + 50 < upgrades / page ? farPage + 50 : farPage);
    const first = await alternate(
      quick ? 60 : 150,
      () => read(0),
      async () => (await timed(() => bare(fixture, page))).milliseconds,
    );
    const [firsts, fars]: [number[], number[]] = [[], []];
    for (let round = 0; round < (quick ? 2 : 5); round += 1) {
      for (let number = 0; number <= farPage; number += 1) {
        const milliseconds = await read(number);
        if (number > farPage - 5) fars.push(milliseconds);
      }
      for (let again = 0; again < 5; again += 1) firsts.push(await read(0));
    }
    return [
      {
        id: "list-first-page",
        title: `GET list, first ${page} of ${upgrades}, p50`,
        value: median(first.ours),
        reference: median(first.reference),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 1.2 },
        steady: true,
      },
      {
        id: "list-far-page",
        title: `GET list, page ${farPage} of ${page}, page by page, p50`,
        value: median(fars),
        reference: median(firsts),
        unit: "ms",
        judged: "ratio",
        target: { atMost: 3 },
        steady: true,
      },
      {
        id: "list-cold-jump",
        title: `GET list, a far page of ${page} without the pages before it`,
        value: cold,
        reference: median(firsts),
        unit: "ms",
        judged: "ratio",
      },
    ];
  },
};

async function getPage({ service }: Fixture, pageNumber: number, pageSize: number): Promise<void> {
  const response = await fetch(`${service.apiUrl}/v1/upgrades?pageNumber=${pageNumber}&pageSize=${pageSize}`);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`GET list answered ${response.status}: ${body}`);
}

/** What answers the same without the service: how many there are, and the first of them. */
async function bare({ temporal }: Fixture, pageSize: number): Promise<void> {
  const { namespace } = temporal.options;
  const query = upgradesQuery({});
  await temporal.workflowService.countWorkflowExecutions({ namespace, query });
  await temporal.workflowService.listWorkflowExecutions({ namespace, query, pageSize });
}

/** Makes the list so long, with closed Workflows that have the type, memo and search attributes of an upgrade that has succeeded. */
async function seed(fixture: Fixture, upgrades: number): Promise<void> {
  const { temporal } = fixture;
  const id = await runUpgrade(fixture, 1);
  const { memo, typedSearchAttributes } = await temporal.workflow.getHandle(id).describe();
  await terminateUpgrades(fixture);
  await withReferenceWorker(fixture, async () => {
    await runConcurrently(upgrades, 64, () =>
      temporal.workflow.start("upgradeWorkflow", {
        workflowId: randomUUID(),
        taskQueue: referenceQueue,
        memo: { ...memo },
        typedSearchAttributes,
      }),
    );
    const running = "ExecutionStatus = 'Running'";
    await until("the list is as long", async () => (await temporal.workflow.count(running)).count === 0, 600);
  });
}

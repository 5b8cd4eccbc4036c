import { randomUUID } from "node:crypto";
import { type Client, WorkflowIdReusePolicy } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { pino } from "pino";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { PublishedPhase, type Upgrade } from "../../../src/domain/spec/upgrade";
import { initialTask } from "../../../src/domain/task/task-progress";
import { endedPhases } from "../../../src/domain/upgrade/attention";
import { initialUpgrade } from "../../../src/domain/upgrade/upgrade-facts";
import { lazyClient } from "../../../src/temporal/connection";
import { SearchIndex } from "../../../src/temporal/search-index";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import type { UpgradeExecutions, UpgradeListing } from "../../../src/upgrades/ports";
import {
  changeIdKey,
  labelsKey,
  createdAtKey,
  resourceIdsKey,
  searchTermsKey,
  taskStatusKey,
  upgradePhaseKey,
  upgradeStatusKey,
} from "../../../workflows/search-attributes";
import { taskQueue } from "../../../workflows/messages";
import { eventually } from "../../support/eventually";
import { samplePlan } from "../../support/sample-plan";
import { startDevServer } from "../../support/workflow-environment";

/** An upgrade of the list as its Workflow would have published it, without a worker. */
interface Listed extends Pick<Upgrade, "status" | "beginsAt" | "createdBy" | "changeId" | "labels"> {
  readonly phase: PublishedPhase;
  readonly name: string;
  /** Its Workflow ended without a word. */
  readonly lost?: true;
}

const listed: readonly Listed[] = [
  { name: "ended first", phase: "SUCCEEDED", status: "COMPLETED_WITH_SUCCESS" },
  { name: "ended last", phase: "CANCELLED", status: "CANCELLED" },
  { name: "lost", phase: "RUNNING", status: "INPROGRESS", lost: true },
  {
    name: "draft",
    phase: "DRAFT_READY",
    status: "DRAFT",
    createdBy: "jane@example.com",
    labels: { team: "Blue 1", site: "fra1" },
  },
  { name: "next week", phase: "SCHEDULED", status: "SCHEDULED", beginsAt: "2036-12-08T02:00:00.000Z" },
  { name: "tonight", phase: "SCHEDULED", status: "SCHEDULED", beginsAt: "2036-12-01T02:00:00.000Z" },
  { name: "tomorrow", phase: "SCHEDULED", status: "SCHEDULED", beginsAt: "2036-12-02T02:00:00.000Z" },
  { name: "running", phase: "RUNNING", status: "INPROGRESS", changeId: "CHG-0042", labels: { team: "Blue 1" } },
  { name: "pausing", phase: "PAUSING", status: "PAUSED" },
  { name: "failed", phase: "ACTION_REQUIRED", status: "COMPLETED_WITH_FAILURE" },
  { name: "missed", phase: "ACTION_REQUIRED", status: "SCHEDULED", createdBy: "jane@example.com" },
];

const byAttention = [
  ...["missed", "failed", "pausing", "running", "tonight", "tomorrow", "next week", "draft"],
  ...["lost", "ended last", "ended first"],
];

describe("The list of upgrades by attention", function () {
  this.timeout(60_000);
  let env: TestWorkflowEnvironment;
  let client: Client;
  let executions: UpgradeExecutions;
  const ids = new Map<string, string>();

  async function publish({ name, phase, lost, ...shown }: Listed, i: number): Promise<void> {
    const plan = samplePlan({ id: randomUUID() });
    const { id } = plan;
    ids.set(name, id);
    const isOver = endedPhases.includes(phase);
    const upgrade: Upgrade = {
      ...initialUpgrade(plan, "bob"),
      resources: resourcesOf(plan).map(({ resourceId }) => ({ resourceId, name: `fra${i}-Production` })),
      createdAt: new Date(Date.UTC(2026, 10, 1 + i)).toISOString(),
      ...shown,
      ...{ name, phase },
      ...(isOver && { endTime: Date.UTC(2026, 9, i + 1) }),
    };
    const index = new SearchIndex(client);
    const { changeId, labels } = index.changeRecordOf(upgrade);
    const handle = await client.workflow.start("upgradeWorkflow", {
      workflowId: id,
      taskQueue,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      memo: { upgrade, task: initialTask(plan), children: [] },
      typedSearchAttributes: [
        { key: upgradeStatusKey, value: upgrade.status ?? "" },
        { key: taskStatusKey, value: "Pending" },
        { key: upgradePhaseKey, value: phase },
        { key: searchTermsKey, value: index.termsOf(upgrade) },
        ...(changeId === undefined ? [] : [{ key: changeIdKey, value: changeId }]),
        ...(labels === undefined ? [] : [{ key: labelsKey, value: [...labels] }]),
        { key: createdAtKey, value: new Date(upgrade.createdAt ?? "") },
        { key: resourceIdsKey, value: resourcesOf(plan).map(({ resourceId }) => resourceId) },
      ],
    });
    if (!isOver && lost !== true) return;
    await handle.terminate();
    // Visibility orders by the time at which each has closed.
    await eventually(
      () => client.workflow.count(`WorkflowId = '${id}' AND ExecutionStatus = 'Terminated'`),
      ({ count }) => count === 1,
    );
  }

  before(async () => {
    env = await startDevServer();
    client = lazyClient({ address: env.address, namespace: "default", connection: { address: env.address } }, {});
    executions = temporalUpgradeExecutions(client, pino({ level: "silent" }));
    for (const [i, one] of listed.entries()) await publish(one, i);
    await eventually(
      () => client.workflow.count("WorkflowType = 'upgradeWorkflow'"),
      ({ count }) => count === listed.length,
    );
  });
  after(async () => {
    await client.connection.close();
    await env.teardown();
  });

  async function read(listing: UpgradeListing = {}, pageNumber?: number, pageSize = 4) {
    const answer = await executions.list(listing, pageNumber === undefined ? undefined : { pageNumber, pageSize })();
    if (E.isLeft(answer)) throw new Error(JSON.stringify(answer.left));
    return answer.right;
  }
  const names = async (...args: Parameters<typeof read>) =>
    ((await read(...args)).elements ?? []).map(({ name }) => name);

  it("has what needs a decision first, then what runs, the next to begin, drafts, and the last that ended", async () => {
    expect(await names()).to.deep.equal(byAttention);
  });

  it("is the same page by page, whatever their size", async () => {
    for (const size of [1, 4, 5]) {
      const pages: string[] = [];
      for (let page = 0; page * size < listed.length; page += 1) {
        const { elements = [], pageMetadata } = await read({}, page, size);
        pages.push(...elements.map(({ name = "" }) => name));
        expect(pageMetadata?.totalElements).to.equal(listed.length);
      }
      expect(pages).to.deep.equal(byAttention);
    }
    expect(await names({}, 9)).to.deep.equal([]);
  });

  it("can be sorted otherwise", async () => {
    const newest = listed.map(({ name }) => name).reverse();
    expect(await names({ sort: "created" })).to.deep.equal(newest);
    expect(await names({ sort: "created" }, 1)).to.deep.equal(newest.slice(4, 8));
    expect((await names({ sort: "begins", phase: ["SCHEDULED"] }))[0]).to.equal("tonight");
    expect(await names({ sort: "name" })).to.deep.equal([...newest].sort());
    expect((await names({ sort: "ended" })).slice(0, 3)).to.deep.equal(["lost", "ended last", "ended first"]);
  });

  it("is filtered by several statuses and phases at once", async () => {
    expect(await names({ status: ["DRAFT", "PAUSED"] })).to.deep.equal(["pausing", "draft"]);
    expect(await names({ phase: ["ACTION_REQUIRED", "CANCELLED"] })).to.deep.equal(["missed", "failed", "ended last"]);
    expect(await names({ phase: ["ACTION_REQUIRED"], status: ["SCHEDULED"] })).to.deep.equal(["missed"]);
    expect(await names({ phase: ["FAILED"] })).to.deep.equal(["lost"]);
    expect(await names({ phase: ["RUNNING"], status: ["CANCELLED"] })).to.deep.equal([]);
  });

  it("is searched by names, their beginnings, the creator and the beginning of the id", async () => {
    expect(await names({ search: "FRA3-production" })).to.deep.equal(["draft"]);
    expect(await names({ search: "prod jane" })).to.deep.equal(["missed", "draft"]);
    expect(await names({ search: ids.get("tonight")?.slice(0, 9) ?? "" })).to.deep.equal(["tonight"]);
    expect(await names({ search: "fra99" })).to.deep.equal([]);
    expect(await names({ search: `" OR 'x` })).to.deep.equal([]);
  });

  it("is filtered by the change record, and searched by its id", async () => {
    expect(await names({ changeId: "CHG-0042" })).to.deep.equal(["running"]);
    expect(await names({ changeId: "chg-0042" })).to.deep.equal([]);
    expect(await names({ search: "chg-0042" })).to.deep.equal(["running"]);
    expect(await names({ label: ["team=Blue 1"] })).to.deep.equal(["running", "draft"]);
    expect(await names({ label: ["team=Blue 1", "site=fra1"] })).to.deep.equal(["draft"]);
    expect(await names({ label: ["team=Blue"] })).to.deep.equal([]);
  });

  it("is filtered by the creator and by the time of creation", async () => {
    expect(await names({ createdBy: "Jane@Example.com" })).to.deep.equal(["missed", "draft"]);
    expect(await names({ createdBy: "jane" })).to.deep.equal([]);
    const [newest, second] = listed.map(({ name }) => name).reverse();
    const createdSince = new Date(Date.UTC(2026, 10, listed.length - 1)).toISOString();
    expect(await names({ createdSince, sort: "created" })).to.deep.equal([newest, second]);
    expect(await names({ createdSince, createdBy: "jane@example.com" })).to.deep.equal(["missed"]);
  });

  it("tells how many upgrades are in each phase", async () => {
    const counted = await executions.count({})();
    if (E.isLeft(counted)) throw new Error(JSON.stringify(counted.left));
    const { total, phases } = counted.right;
    expect(total).to.equal(listed.length);
    expect(phases.map(({ phase }) => phase)).to.have.members(Object.keys(PublishedPhase.keys));
    expect(Object.fromEntries(phases.map(({ phase, upgrades }) => [phase, upgrades]))).to.deep.include({
      ACTION_REQUIRED: 2,
      RUNNING: 1,
      SCHEDULED: 3,
      FAILED: 1,
      PAUSED: 0,
    });
    const found = await executions.count({ search: "jane" })();
    expect(E.isRight(found) && found.right.total).to.equal(2);
  });
});

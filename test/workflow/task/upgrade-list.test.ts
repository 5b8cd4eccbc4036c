import type { Client } from "@temporalio/client";
import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { pino } from "pino";
import type { PageRequest } from "../../../src/domain/page";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { lazyClient } from "../../../src/temporal/connection";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import type { UpgradeExecutions } from "../../../src/upgrades/ports";
import { eventually } from "../../support/eventually";
import { clusters, samplePlan } from "../../support/sample-plan";
import { startDevServer } from "../../support/workflow-environment";

describe("List of upgrades in Temporal", function () {
  this.timeout(60_000);
  let env: TestWorkflowEnvironment;
  let client: Client;
  let executions: UpgradeExecutions;
  const upgrades = 30;

  before(async () => {
    env = await startDevServer();
    client = lazyClient({ address: env.address, namespace: "default", connection: { address: env.address } }, {});
    executions = temporalUpgradeExecutions(client, pino({ level: "silent" }));
    // Without a worker. Of the largest request that is taken, 256 resources with ids of 255 characters, so that a few
    // are more than gRPC takes by itself (4 MB).
    const resources = clusters(256, "x".repeat(247));
    // One after the other: Visibility on SQLite can pass over one of two that started in the same moment.
    for (let i = 0; i < upgrades; i++) {
      const started = await executions.start(samplePlan({ draft: true, resources }), { requestedBy: "a test" })();
      expect(started).to.deep.equal(E.right("STARTED"));
    }
    await eventually(list, ({ pageMetadata }) => pageMetadata?.totalElements === upgrades);
  });
  after(async () => {
    await client.connection.close();
    await env.teardown();
  });

  async function list(page?: PageRequest): Promise<PageOfUpgrade> {
    const answer = await executions.list({}, page)();
    if (E.isLeft(answer)) throw new Error(JSON.stringify(answer.left));
    return answer.right;
  }
  const idsOf = ({ elements = [] }: PageOfUpgrade) => elements.map(({ id }) => id);

  it("holds all of them, though together they are more than one message", async () => {
    const page = await list();
    expect(new Set(idsOf(page)).size).to.equal(upgrades);
  });

  it("can be read from any page, with the same elements in the same order", async () => {
    const all = idsOf(await list());
    for (const pageNumber of [9, 0, 4, 7]) {
      const page = await list({ pageNumber, pageSize: 3 });
      expect(idsOf(page)).to.deep.equal(all.slice(pageNumber * 3, pageNumber * 3 + 3));
    }
  });

  it("answers a page far beyond its end at once", async () => {
    expect(await list({ pageNumber: 2 ** 31 - 1, pageSize: 1000 })).to.deep.equal({
      elements: [],
      pageMetadata: { pageNumber: 2 ** 31 - 1, pageSize: 1000, totalElements: upgrades, totalPages: 1 },
    });
  });

  it("is read once for all who ask for it at the same time", async () => {
    const pages = await Promise.all(Array.from({ length: 200 }, () => list()));
    expect(new Set(pages).size).to.equal(1);
  });
});

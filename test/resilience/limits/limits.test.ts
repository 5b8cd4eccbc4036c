import { expect } from "chai";
import pLimit from "p-limit";
import { type Fixture, withFixture } from "../../../bench/fixture";
import { longHostName, resourceId, simulatedCluster, upgradeRequest } from "../../../bench/fleet";
import { untilSucceeded } from "../../../bench/upgrades";
import type { Task } from "../../../src/domain/spec/task";
import { maximumResources } from "../../../src/domain/spec/upgrade-spec";
import { WebhookReceiver } from "../../support/webhook-receiver";
import { hostsOf } from "../../support/service/service-under-test";
import { limitsTable } from "./limits-table";
import { type MeasuredWorkflow, measureWorkflow, queryBytes, type Run } from "./measured-workflow";
import { limitedKinds, temporalLimits } from "./temporal-limits";

const clusters = maximumResources;
const hosts = 64;
/** The most that a cluster can do without at once: the last host could be emptied nowhere. */
const hostsAtOnce = hosts - 1;
/** The first clusters go host by host, which makes the longest histories. */
const hostByHost = { untroubled: 0, everyHostFailsOnce: 1, everyHostFailsTwice: 2 };
/** The most attempts at a host that a request may ask for, and the most hosts of a cluster. */
const most = { attempts: 101, hosts: 128 };
/** Reports that a cluster sends of its hosts at most: from none to ten tenths of them, and at the first failure. */
const reports = 12;
/** Events of a Signal that comes alone: itself and the Workflow task that it makes. */
const eventsOfSignal = 4;
/** Minutes that the upgrade may take on a machine that does other things as well. */
const timeout = 25;

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;

interface Found {
  readonly id: string;
  readonly task: Task;
  readonly workflows: readonly MeasuredWorkflow[];
  /** Bytes of the largest answers to Queries, by the type of the Workflow. */
  readonly queries: Readonly<Record<string, number>>;
  /** By id of the simulator, how often each host was remediated to its end. */
  readonly remediated: ReadonlyMap<string, number>;
  readonly begun: number;
}

describe(`An upgrade of ${clusters} clusters of ${hosts} hosts`, function () {
  this.timeout(timeout * 60_000);
  const receiver = new WebhookReceiver(secret);
  let found: Found;

  before(async () => {
    await receiver.start();
    const needs = { clusters, hosts, hostsAtOnce, hostByHost: 3, longNames: true };
    found = await withFixture({ ...needs, receiver: { url: receiver.url, secret } }, { postgres: false }, upgradeAll);
    process.stdout.write(`${limitsTable(found.workflows)}\n`);
  });

  after(() => receiver.stop());

  const ofCluster = (index: number) =>
    found.workflows.find(({ workflowId }) => workflowId === `cluster/${resourceId(index)}`) as MeasuredWorkflow;
  const ofType = (type: string) => found.workflows.filter((workflow) => workflow.type === type);

  it("succeeds, and its Task tells of every cluster and host", () => {
    const { task } = found;
    expect(task.status).to.equal("Successful");
    expect(new Set(task.resources?.map((one) => one.resourceId)).size).to.equal(clusters);
    const all = hostsOf(task);
    expect(new Set(all.map(({ resources }) => resources?.[0]?.resourceId)).size).to.equal(clusters * hosts);
    expect(new Set(all.map(({ status }) => status))).to.deep.equal(new Set(["SUCCESSFUL"]));
    expect(JSON.stringify(all.at(-1))).to.contain(longHostName(clusters - 1, hosts));
  });

  it("remediates every host exactly once", () => {
    expect(found.remediated.size).to.equal(clusters * hosts);
    expect(new Set(found.remediated.values())).to.deep.equal(new Set([1]));
    expect(found.begun, "with the attempts that were to fail").to.equal((clusters + 1 + 2) * hosts);
  });

  it("has a Workflow of its own, one for each cluster and one for its notifications", () => {
    expect(ofType("upgradeWorkflow")).to.have.length(1);
    expect(ofType("clusterUpgradeWorkflow")).to.have.length(clusters);
    expect(ofType("notifyWorkflow")).to.have.length(1);
    expect(receiver.received.map(({ event }) => event.type)).to.have.length.above(1);
  });

  for (const kind of limitedKinds)
    it(`needs less than half of what Temporal allows: ${kind}`, () => {
      const [largest] = [...found.workflows].sort((a, b) => b.used[kind] - a.used[kind]);
      const { workflowId = "", largestPayload = "", used } = largest ?? {};
      expect(used?.[kind], `${workflowId} ${largestPayload}`).to.be.within(0, temporalLimits[kind] / 2);
    });

  it("gives answers to Queries of less than half a payload", () => {
    for (const [type, bytes] of Object.entries(found.queries))
      expect(bytes, type).to.be.within(1, temporalLimits.payloadBytes / 2);
  });

  it("would do so with the most hosts in a cluster, and with every attempt at every host, one at a time", () => {
    const plain = ofCluster(hostByHost.untroubled).used;
    const once = ofCluster(hostByHost.everyHostFailsOnce).used;
    const twice = ofCluster(hostByHost.everyHostFailsTwice).used;
    for (const kind of ["events", "historyBytes"] as const) {
      // A host that fails has an Activity of its own; without trouble several share one.
      const ofHost = Math.max(plain[kind], once[kind]) / hosts;
      const ofAttempt = Math.max(0, twice[kind] - once[kind]) / hosts;
      expect(ofHost * most.hosts, `${kind} of ${most.hosts} hosts`).to.be.below(temporalLimits[kind] / 2);
      expect((ofHost + ofAttempt * (most.attempts - 2)) * hosts, `${kind} of all attempts`).to.be.below(
        temporalLimits[kind] / 2,
      );
    }
  });

  it("would do so if all clusters went host by host, each telling of its hosts as often as it can", () => {
    const [upgrade] = ofType("upgradeWorkflow");
    const signals = clusters * reports;
    const { events = NaN, signalsReceived = NaN } = upgrade?.used ?? {};
    expect(signals).to.be.below(temporalLimits.signalsReceived / 2);
    expect(events + (signals - signalsReceived) * eventsOfSignal).to.be.below(temporalLimits.events / 2);
  });
});

/** Upgrades the whole fleet by one request, and looks at what that has made. */
async function upgradeAll(fixture: Fixture): Promise<Found> {
  const { service, simulator, temporal } = fixture;
  for (const [troubled, times] of [
    [hostByHost.everyHostFailsOnce, 1],
    [hostByHost.everyHostFailsTwice, 2],
  ] as const) {
    const names = Array.from({ length: hosts }, (_, i) => longHostName(troubled, i + 1));
    await simulator.failHosts(simulatedCluster(troubled), names, times);
  }
  const { id } = await service.startUpgrade(requestOf(clusters));
  await untilSucceeded(fixture, id);
  const task = await service.taskWhen(id, "read", () => true, 300);

  const runs: Run[] = [];
  for await (const { type, workflowId, runId } of temporal.workflow.list({ query: `RootWorkflowId = '${id}'` }))
    runs.push({ type, workflowId, runId });
  const limit = pLimit(4);
  const workflows = await Promise.all(runs.map((run) => limit(() => measureWorkflow(temporal, run))));
  const remediated = new Map<string, number>();
  for (const { host = "" } of await simulator.ledger("REMEDIATED"))
    remediated.set(host, (remediated.get(host) ?? 0) + 1);
  const begun = (await simulator.ledger("APPLY_STARTED")).length;
  return { id, task, workflows, queries: await queriesOf(fixture, workflows), remediated, begun };
}

/** What a client may ask for of each cluster at the same time: retries without a pause, and options of the product. */
function requestOf(count: number): object {
  const { resourceUpgradeSpecs, ...spec } = upgradeRequest(0, count);
  const hostosUpgradeOptionsSpec = {
    hostosUpgradeFailureAction: { action: "RETRY", retryCount: 2, retryDelay: 0 },
    enforceHclValidation: false,
    evacuateOfflineVms: false,
    disableHac: false,
    disableDpm: false,
  };
  return { ...spec, resourceUpgradeSpecs: resourceUpgradeSpecs.map((one) => ({ ...one, hostosUpgradeOptionsSpec })) };
}

/** Asks the upgrade, the cluster with the longest history and the one with the largest memo for all that they tell. */
async function queriesOf(
  { temporal }: Fixture,
  workflows: readonly MeasuredWorkflow[],
): Promise<Record<string, number>> {
  const largest = (type: string) =>
    (["events", "memoBytes"] as const).flatMap((kind) =>
      workflows
        .filter((one) => one.type === type)
        .sort((a, b) => b.used[kind] - a.used[kind])
        .slice(0, 1),
    );
  const asked = async (type: string, query: string) =>
    Math.max(...(await Promise.all(largest(type).map((run) => queryBytes(temporal, run, query)))));
  return {
    upgradeWorkflow: await asked("upgradeWorkflow", "taskWithChildren"),
    clusterUpgradeWorkflow: await asked("clusterUpgradeWorkflow", "subTask"),
  };
}

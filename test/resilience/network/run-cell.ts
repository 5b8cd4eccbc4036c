import { setTimeout as pauseFor } from "node:timers/promises";
import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { Onlookers } from "../crash/onlookers";
import { Operator } from "../crash/operator";
import { countUpgrades, expectConsistentEnd } from "../crash/oracle";
import { seeded } from "../crash/seeded";
import { until } from "../../support/service/deployment";
import { ApiProbes } from "./api-probes";
import type { Cell } from "./cells";
import { followers } from "./followers";
import { kindsOfUpgrade } from "./kinds-of-upgrade";
import type { NetworkLane } from "./network-lane";
import type { Proxy } from "./toxiproxy";

/** Lets a fault come over an upgrade, and judges how both end; throws what does not hold. */
export async function runCell(cell: Cell, lane: NetworkLane, proxy: Proxy, seed: number): Promise<void> {
  const { name, pair, fault } = cell;
  const { service } = lane;
  const random = seeded(seed, name);
  const operator = new Operator(service);
  const kind = kindsOfUpgrade[pair.upgrade];
  const cluster = "cluster" in kind ? kind.cluster : "domain-c34";
  await service.resetSimulator();
  const policy = await service.policy(cluster);
  const before = { upgrades: await countUpgrades(service), processes: service.processes() };
  const key = `${seed}-${name}`.replaceAll(/[^\w-]/g, "-");

  const strike = async () => {
    await fault.strike(proxy, random, fault.seconds);
    await proxy.heal();
  };
  const early = pair.first && strike();
  const id = await operator.start(kind.spec, key);
  const follower = pair.follower && followers[pair.follower](lane, id);
  await operator.ledgerHas(kind.begun);
  await follower?.follows();
  await pauseFor(Math.floor(random() * 500));
  const onlookers = new Onlookers(service.apiUrls, id);
  const struck = early ?? strike();
  const probes =
    pair.unreachable && new ApiProbes(service, `${key}-draft`, id, { ...pair.unreachable, total: fault.total });
  try {
    await struck;
    await probes?.end();
    await probes?.recovers();
    await awaitEnd(lane, id, pair.link === "workerToManager" && fault.long === true);
  } finally {
    // Nobody goes on asking after a cell that has failed.
    probes?.stop();
    await onlookers.end();
  }
  expect((await onlookers.end()).join("; "), "what the API told").to.equal("");
  const { starts } = kind;
  await expectConsistentEnd(service, { id, task: "Successful", starts, policy, cluster });
  for (const step of kind.once) await expectOnce(lane, step);
  expect((await countUpgrades(service)) - before.upgrades, "upgrades that were started").to.equal(probes ? 2 : 1);
  expect(service.processes(), "processes; none had to be started again").to.deep.equal(before.processes);
  await follower?.expectEnd();
  if (pair.link === "workerToReceiver") await expectTold(lane, id);
}

/**
 * Waits for the success of an upgrade. A component manager that is away for longer than
 * COMPONENT_MANAGER_OUTAGE_MINUTES fails it, and a retry goes on.
 */
async function awaitEnd({ service }: NetworkLane, id: string, afterOutage: boolean): Promise<void> {
  const ended = ({ status }: Task) => status === "Successful" || status === "Failed";
  const task = await service.taskWhen(id, "has ended", ended, 150);
  if (task.status === "Successful" || !afterOutage) return;
  expect(JSON.stringify(task.errors)).to.contain("COMPONENT_MANAGER_UNREACHABLE");
  await service.send("PATCH", `/v1/tasks/${id}`);
  await service.taskWhen(id, "is successful after a retry", ({ status }) => status === "Successful", 150);
}

/** No host, node or server was taken through a step twice. */
async function expectOnce({ service }: NetworkLane, step: string): Promise<void> {
  const of = (await service.ledger()).filter((entry) => entry.step === step).map(({ host }) => host ?? "");
  expect(new Set(of).size, `${step} of ${of.join(", ")}`).to.equal(of.length);
  expect(of.length, step).to.be.above(0);
}

/** The receiver hears of the beginning and the end, however often its answers were lost. */
async function expectTold({ receiver }: NetworkLane, id: string): Promise<void> {
  const told = () => {
    const mine = receiver.received.filter(({ event }) => event.source === `/v1/upgrades/${id}`);
    return [...new Set(mine.map(({ event }) => event.type))].sort();
  };
  await until("the receiver was told of both", () => told().length === 2);
  expect(told()).to.deep.equal(["upgrade.started", "upgrade.successful"]);
}

import { expect } from "chai";
import fc from "fast-check";
import { isRight } from "fp-ts/Either";
import type { NetvirtUpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { SubTask } from "../../../src/domain/spec/task";
import {
  applyNetvirtActivity,
  applyNetvirtProgress,
  countNodes,
  initialNetvirtSubTask,
  mergeNetvirt,
  type NetvirtEvent,
  netvirtResultSubTask,
  netvirtStages,
  type NetvirtStageType,
  nodesOf,
  waitingComponents,
} from "../../../src/domain/task/netvirt-progress";
import {
  type NetvirtComponent,
  netvirtComponentOrder,
  type NetvirtComponentType,
  type NetvirtNode,
  type NetvirtNodeState,
  NetvirtProgress,
} from "../../../src/domain/task/netvirt-upgrade";
import { sampleError } from "../../support/fake-activities";

const at = "2026-11-01T00:00:00.000Z";
const plan: NetvirtUpgradePlan = {
  kind: "NETVIRT",
  resourceId: "n-1",
  name: "nsx-01",
  componentManagerId: "nsx-01",
  targetVersion: "9.0.1.0.24952111",
  attempts: { maximumAttempts: 1, retryDelay: 0 },
  options: { edgeOnly: false },
  clusters: [],
  places: [{ domain: "fra1" }],
};

function node(id: string, over: Partial<NetvirtNode> = {}): NetvirtNode {
  return { id, name: `name-${id}`, version: "9.0.0", status: "NOT_STARTED", percent: 0, ...over };
}
function component(type: NetvirtComponentType, ids: readonly string[], over: Partial<NetvirtComponent> = {}) {
  const groups = [
    { id: `${type}-in`, name: "in", included: true, nodeCount: ids.length, nodes: ids.map((id) => node(id)) },
    { id: `${type}-out`, name: "out", included: false, nodeCount: 1, nodes: [node(`${type}-left`)] },
  ];
  return { type, state: "TO_DO" as const, groups, ...over };
}
const components = [component("EDGE", ["e1", "e2"]), component("HOST", ["h1", "h2"])];

type Untimed = NetvirtEvent extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;
const after = (...happenings: Untimed[]) =>
  happenings.reduce<SubTask>(
    (subTask, happening) => applyNetvirtProgress(subTask, { ...happening, at }),
    initialNetvirtSubTask(plan, at),
  );
const statuses = (subTask: SubTask) => nodesOf(subTask).map(({ name, status }) => `${name.slice(5)} ${status}`);

describe("the order of NETVIRT's components", () => {
  it("follows the target version, and is the edges alone where only they are wanted", () => {
    expect(netvirtComponentOrder("4.2.1.0.0.24304122", false)).to.deep.equal(["EDGE", "HOST", "MP"]);
    expect(netvirtComponentOrder("9.0", false)).to.deep.equal(["MP", "EDGE", "HOST", "FINALIZE_UPGRADE"]);
    expect(netvirtComponentOrder("9.1.0.0.1", true)).to.deep.equal(["EDGE"]);
  });
});

describe("the SubTask of a NETVIRT instance", () => {
  const read = { type: "ComponentsRead", components } as const;

  it("shows components, groups and nodes, those left out included", () => {
    const subTask = after(read);
    expect(subTask.subTasks?.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "NETVIRT_EDGE_UPGRADE PENDING",
      "NETVIRT_HOST_UPGRADE PENDING",
    ]);
    expect(subTask.subTasks?.[0]?.subTasks?.map(({ status }) => status)).to.deep.equal(["PENDING", "NOT_APPLICABLE"]);
    expect(waitingComponents(subTask)).to.deep.equal(["EDGE", "HOST"]);
    expect(countNodes(subTask)).to.deep.equal({ total: 4, upgraded: 0, skipped: 0, failed: 0, left: 4 });
  });

  it("counts what needs nothing as skipped", () => {
    const edge = component("EDGE", [], { state: "AT_TARGET" });
    const done = [node("e1", { status: "SUCCESS", version: "9.0.1" })];
    const groups = [{ id: "g", name: "in", included: true, nodeCount: 1, nodes: done }];
    const subTask = after({ type: "ComponentsRead", components: [{ ...edge, groups }] });
    expect(waitingComponents(subTask)).to.deep.equal([]);
    expect(countNodes(subTask)).to.include({ total: 1, skipped: 1 });
  });

  it("grafts what a pending Activity says of nodes in work, without ending anything for good", () => {
    const running = after(read, { type: "ComponentStarted", component: "HOST" });
    const progress: NetvirtProgress = {
      component: "HOST",
      reportedFailures: 1,
      activity: "1 of 2 nodes are upgraded.",
      percent: 62.7,
      nodes: [
        { id: "h1", status: "FAILED", percent: 60, error: "no space" },
        { id: "h2", status: "IN_PROGRESS", percent: 25.4 },
      ],
    };
    const shown = applyNetvirtActivity(running, { component: "HOST", progress, maximumAttempts: 3 });
    const host = shown.subTasks?.[1];
    expect(host?.description).to.equal("1 of 2 nodes are upgraded. (62 %) (attempt 2 of 3)");
    expect(statuses(shown)).to.include.members(["h1 FAILED", "h2 IN_PROGRESS", "e1 PENDING"]);
    expect(host?.subTasks?.[0]).to.include({ status: "IN_PROGRESS", description: "0 of 2 nodes done." });
    const failed = nodesOf(shown).find(({ name }) => name === "name-h1");
    expect(failed?.errors?.[0]?.message).to.equal("name-h1 failed: no space");
    const waiting = applyNetvirtActivity(running, {
      component: "HOST",
      progress,
      lastError: sampleError("NETVIRT_UPGRADE_FAILED"),
      nextAttemptAt: at,
      maximumAttempts: 3,
    });
    expect(waiting.subTasks?.[1]?.description).to.include(`starts at ${at}`);
    expect(applyNetvirtActivity(running, { component: "EDGE", progress, maximumAttempts: 1 })).to.deep.equal(running);
  });

  it("keeps what was done where a component fails, and says of each node how it stands", () => {
    const nodes: NetvirtNodeState[] = [
      { id: "h1", status: "SUCCESS", percent: 100 },
      { id: "h2", status: "FAILED", percent: 60, error: "no space" },
    ];
    const error = sampleError("NETVIRT_UPGRADE_FAILED");
    const subTask = after(
      read,
      { type: "ComponentStarted", component: "EDGE" },
      { type: "ComponentSucceeded", component: "EDGE" },
      { type: "ComponentStarted", component: "HOST" },
      { type: "ComponentFailed", component: "HOST", error, nodes },
      { type: "Ended", outcome: "FAILED", error },
    );
    expect(statuses(subTask)).to.deep.equal(["e1 SUCCESSFUL", "e2 SUCCESSFUL", "h1 SUCCESSFUL", "h2 FAILED"]);
    expect(countNodes(subTask)).to.deep.equal({ total: 4, upgraded: 3, skipped: 0, failed: 1, left: 0 });
    expect(subTask.subTasks?.[1]?.errors?.[0]?.errorCode).to.equal("NETVIRT_UPGRADE_FAILED");
  });

  it("ends what was cut short, with its parts, where its own Workflow could not", () => {
    const own = after(
      read,
      { type: "StageStarted", stage: "READ_UPGRADE" },
      { type: "ComponentStarted", component: "HOST" },
    );
    const known = netvirtResultSubTask(
      plan,
      { outcome: "FAILED", hosts: countNodes(own), error: sampleError("CLUSTER_WORKFLOW_LOST") },
      at,
      at,
    );
    const merged = mergeNetvirt(known, own);
    expect(merged).to.include({ status: "FAILED" });
    expect(merged.subTasks?.map(({ status }) => status)).to.deep.equal(["NOT_APPLICABLE", "FAILED"]);
    expect(merged.stages?.map(({ status }) => status)).to.deep.equal(["FAILED"]);
    expect(mergeNetvirt(initialNetvirtSubTask(plan, at), own)).to.equal(own);
  });

  it("fits into a payload with as many nodes as are listed", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `0f8fad5b-d9cb-469f-a165-70867728${1000 + i}`);
    const full = after({ type: "ComponentsRead", components: [component("HOST", many)] });
    expect(Buffer.byteLength(JSON.stringify(full))).to.be.lessThan(1024 * 1024);
  });

  const stageTypes = Object.keys(netvirtStages) as NetvirtStageType[];
  const error = fc.constant(sampleError("NETVIRT_UPGRADE_FAILED"));
  const nodeState = fc.record({
    id: fc.constantFrom("e1", "e2", "h1", "h2", "EDGE-left", "unknown"),
    status: fc.constantFrom("NOT_STARTED", "IN_PROGRESS", "SUCCESS", "FAILED"),
    percent: fc.nat(100),
  });
  const anyComponent = fc.constantFrom<NetvirtComponentType>("MP", "EDGE", "HOST");
  const stage = fc.constantFrom(...stageTypes);
  const anyHappening: fc.Arbitrary<Untimed> = fc.oneof(
    fc.record({ type: fc.constantFrom("StageStarted", "StageSucceeded"), stage }),
    fc.record({ type: fc.constant("StageFailed"), stage, error }),
    fc.constant(read),
    fc.record({ type: fc.constantFrom("ComponentStarted", "ComponentSucceeded"), component: anyComponent }),
    fc.record({ type: fc.constant("ComponentFailed"), component: anyComponent, error, nodes: fc.array(nodeState) }),
    fc.record({
      type: fc.constant("Ended"),
      outcome: fc.constantFrom("SUCCESSFUL", "NOTHING_TO_DO", "FAILED", "CANCELLED", "NOT_BEGUN"),
      error,
    }),
  );
  const isOver = ({ status }: SubTask) => status !== "PENDING" && status !== "IN_PROGRESS";
  const partsOf = (subTask: SubTask): SubTask[] => [subTask, ...(subTask.subTasks ?? []).flatMap(partsOf)];

  it("never leaves a final status, whatever happens in whatever order, and stays a SubTask", () => {
    fc.assert(
      fc.property(fc.array(anyHappening, { maxLength: 25 }), (happenings) => {
        let subTask = initialNetvirtSubTask(plan, at);
        for (const happening of happenings) {
          const next = applyNetvirtProgress(subTask, { ...happening, at });
          const before = partsOf(subTask);
          if (before.length === partsOf(next).length) {
            partsOf(next).forEach((part, i) => {
              if (isOver(before[i]!)) expect(part.status).to.equal(before[i]!.status);
            });
          }
          subTask = next;
        }
        expect(isRight(SubTask.decode(subTask))).to.equal(true);
        if (isOver(subTask)) expect(partsOf(subTask).every(isOver)).to.equal(true);
        const { total, upgraded, skipped, failed, left } = countNodes(subTask);
        expect(upgraded + skipped + failed + left).to.be.at.most(total);
      }),
    );
  });

  it("shows any progress of a component in work without changing how many nodes there are", () => {
    const running = after(read, { type: "ComponentStarted", component: "HOST" });
    fc.assert(
      fc.property(fc.array(nodeState), fc.nat(3), (nodes, reportedFailures) => {
        const progress = {
          component: "HOST" as const,
          reportedFailures,
          activity: "x",
          percent: 1,
          nodes,
        } as NetvirtProgress;
        const shown = applyNetvirtActivity(running, { component: "HOST", progress, maximumAttempts: 4 });
        expect(nodesOf(shown).map(({ name }) => name)).to.deep.equal(nodesOf(running).map(({ name }) => name));
        expect(shown.subTasks?.[1]?.status).to.equal("IN_PROGRESS");
        expect(isRight(NetvirtProgress.decode(progress))).to.equal(true);
      }),
    );
  });
});

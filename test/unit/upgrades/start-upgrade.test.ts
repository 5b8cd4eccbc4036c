import { expect } from "chai";
import * as E from "fp-ts/Either";
import { clusterLock, mgmtLock } from "../../../src/domain/resource-lock";
import type { Task } from "../../../src/domain/spec/task";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../../../src/domain/spec/upgrade-spec";
import { initialTask } from "../../../src/domain/task/task-progress";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import { failedDependency, type ServiceError, unexpected } from "../../../src/upgrades/service-error";
import { sampleBundle, sampleCluster, samplePlan } from "../../support/sample-plan";
import { FakePorts, now } from "./fake-ports";

const spec = (resource: Partial<ResourceUpgradeSpec> = {}, changes: Partial<UpgradeSpec> = {}): UpgradeSpec => ({
  bundleId: sampleBundle.id,
  resourceType: "CLUSTER",
  resourceUpgradeSpecs: [{ resourceId: "c1", ...resource }],
  ...changes,
});
const past = { scheduledTimestamp: "2020-01-01T00:00:00.000Z" };
const temporalAway = failedDependency({ code: "TEMPORAL_UNREACHABLE", message: "Away.", remediation: "Wait." });

describe("startUpgrade", () => {
  let ports: FakePorts;
  beforeEach(() => (ports = new FakePorts()));

  const start = (request: UpgradeSpec, idempotencyKey?: string, caller = "dev") =>
    createUpgradeService(ports.dependencies).startUpgrade({
      spec: request,
      caller,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    })();
  async function started(request: UpgradeSpec, idempotencyKey?: string, caller?: string): Promise<Task> {
    const outcome = await start(request, idempotencyKey, caller);
    if (E.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left));
    return outcome.right;
  }
  async function refused(request: UpgradeSpec, idempotencyKey?: string): Promise<ServiceError> {
    const outcome = await start(request, idempotencyKey);
    if (E.isRight(outcome)) throw new Error("the request was not refused");
    return outcome.left;
  }
  const codesOf = (error: ServiceError) => ("problems" in error ? error.problems.map(({ code }) => code) : []);

  it("starts the plan of the request and answers its initial Task", async () => {
    const task = await started(spec());
    expect(ports.starts).to.have.length(1);
    const [{ plan, requestDigest } = { plan: samplePlan(), requestDigest: "" }] = ports.starts;
    expect(plan).to.include({ id: "random-1", resolutionDays: 7, creationTimestamp: "2026-11-01T12:00:00.000Z" });
    expect(requestDigest).to.equal(undefined);
    expect(task).to.deep.equal(initialTask(plan));
  });

  it("gives all that it asks one deadline, of which component managers leave some to Temporal", async () => {
    const until: Record<string, number | undefined> = {};
    const { executions, inventory, ...rest } = ports.dependencies;
    const service = createUpgradeService({
      ...rest,
      startMilliseconds: 6000,
      executions: {
        ...executions,
        findStarted: (id, deadline) => ((until["findStarted"] = deadline), executions.findStarted(id)),
        lockHolders: (locks, deadline) => ((until["lockHolders"] = deadline), executions.lockHolders(locks)),
        start: (plan, origin, deadline) => ((until["start"] = deadline), executions.start(plan, origin)),
      },
      inventory: {
        ...inventory,
        readClusters: (ids, deadline) => ((until["readClusters"] = deadline), inventory.readClusters(ids)),
      },
    });
    const ask = () => service.startUpgrade({ spec: spec(), caller: "dev", idempotencyKey: "key" })();
    for (const outcome of [await ask(), await ask()]) expect(E.isRight(outcome)).to.equal(true);
    const deadline = now + 6000;
    expect(until).to.deep.equal({
      findStarted: deadline,
      readClusters: deadline - 1000,
      lockHolders: deadline,
      start: deadline,
    });
  });

  it("looks at the locks of the inventory's clusters while component managers are asked", async () => {
    const { executions, inventory, ...rest } = ports.dependencies;
    const looked = new Promise<readonly string[]>((resolve) => {
      const service = createUpgradeService({
        ...rest,
        executions: { ...executions, lockHolders: (locks) => (resolve(locks), executions.lockHolders(locks)) },
        inventory: {
          ...inventory,
          clusters: [sampleCluster("c1"), sampleCluster("c2")].map((cluster) => ({
            ...cluster,
            managementServer: "m1",
          })),
          readClusters: () => () => new Promise<never>(() => undefined),
        },
      });
      void service.startUpgrade({ spec: spec(), caller: "dev" })();
    });
    expect(await looked).to.deep.equal([clusterLock("c1"), mgmtLock("m1")]);
  });

  it("asks Temporal for an earlier self only of a request that it cannot start", async () => {
    await started(spec(), "key");
    expect(ports.lookedFor).to.deep.equal([]);
    await started(spec(), "key");
    await refused(spec(past), "another key");
    expect(ports.lookedFor).to.deep.equal(["dev/key", "dev/another key"]);
  });

  it("starts a new upgrade for each request without a key", async () => {
    const first = await started(spec());
    const second = await started(spec());
    expect(first.id).not.to.equal(second.id);
    expect(ports.starts).to.have.length(2);
  });

  describe("refuses with everything that is wrong and starts nothing", () => {
    afterEach(() => expect(ports.starts).to.deep.equal([]));

    it("as a bad request where anything is one, whatever else is wrong", async () => {
      ports.lookups.set("c1", {
        _tag: "Unread",
        name: "fra1-prod",
        componentManagerId: "vc",
        silence: { code: "COMPONENT_MANAGER_UNREACHABLE", reason: "timeout" },
      });
      const error = await refused(spec(past, { parallelUpgrade: false, bundleId: "no-such-bundle" }));
      expect(error._tag).to.equal("BadRequest");
      expect(codesOf(error)).to.have.members([
        "SCHEDULE_IN_THE_PAST",
        "ONLY_PARALLEL_UPGRADES",
        "COMPONENT_MANAGER_UNREACHABLE",
        "BUNDLE_UNKNOWN",
      ]);
    });

    it("as not allowed where nothing is bad but something is not allowed", async () => {
      const error = await refused(spec({}, { parallelUpgrade: false, bundleId: "no-such-bundle" }));
      expect(error._tag).to.equal("NotAllowed");
      expect(codesOf(error)).to.have.members(["ONLY_PARALLEL_UPGRADES", "BUNDLE_UNKNOWN"]);
    });

    it("as a failed dependency where only that is missing", async () => {
      const error = await refused(spec({}, { bundleId: "no-such-bundle" }));
      expect(error._tag).to.equal("FailedDependency");
      expect("problems" in error && error.problems[0]).to.include({ path: "bundleId", code: "BUNDLE_UNKNOWN" });
    });

    it("as a bad request although Temporal, which knows the locks, does not answer", async () => {
      ports.failing = { lockHolders: temporalAway };
      const bad = await refused(spec(past));
      expect([bad._tag, codesOf(bad)]).to.deep.equal(["BadRequest", ["SCHEDULE_IN_THE_PAST", "TEMPORAL_UNREACHABLE"]]);
      const notAllowed = await refused(spec({}, { parallelUpgrade: false }));
      expect(notAllowed._tag).to.equal("NotAllowed");
      expect(await refused(spec())).to.equal(temporalAway);
    });

    it("naming the upgrade that holds the cluster", async () => {
      ports.lockHolders.set("cluster/c1", "the-other");
      const error = await refused(spec());
      expect(error._tag).to.equal("NotAllowed");
      expect("problems" in error && error.problems[0]?.message).to.contain("the-other");
    });

    it("with the port's own error where a port fails", async () => {
      const broken = unexpected("disk");
      for (const port of ["catalog", "inventory", "lockHolders", "start"] as const) {
        ports.failing = { [port]: broken };
        expect(await refused(spec()), port).to.equal(broken);
        expect(await refused(spec(), `key ${port}`), `${port}, with a key`).to.equal(broken);
      }
      ports.failing = { findStarted: temporalAway };
      expect(await refused(spec(past), "key")).to.equal(temporalAway);
    });
  });

  describe("with an Idempotency-Key", () => {
    it("takes its id from caller and key, and keeps a digest of the request", async () => {
      expect((await started(spec(), "key")).id).to.equal("dev/key");
      expect(ports.starts[0]?.requestDigest).to.equal(JSON.stringify(spec()));
      expect((await started(spec({ resourceId: "c2" }), "key", "somebody else")).id).to.equal("somebody else/key");
    });

    it("does not ask a Temporal again that has just been lost: the client would wait twice as long", async () => {
      ports.failing = { lockHolders: temporalAway };
      expect(codesOf(await refused(spec(), "key"))).to.deep.equal(["TEMPORAL_UNREACHABLE"]);
      expect(ports.lookedFor).to.deep.equal([]);
    });

    it("says of no request that it can never succeed while nobody can tell whether it has", async () => {
      ports.failing = { lockHolders: temporalAway };
      const error = await refused(spec(past), "key");
      expect([error._tag, codesOf(error)]).to.deep.equal(["FailedDependency", ["TEMPORAL_UNREACHABLE"]]);
    });

    it("answers a repeated request the original Task and starts nothing", async () => {
      const first = await started(spec(), "key");
      expect(await started(spec(), "key")).to.deep.equal(first);
      expect(ports.starts).to.have.length(1);
    });

    it("does not judge a repeated request again: its own upgrade holds the cluster by now", async () => {
      const first = await started(spec(), "key");
      ports.lockHolders.set("cluster/c1", first.id);
      ports.failing = { catalog: unexpected("disk"), inventory: unexpected("disk") };
      expect(await started(spec(), "key")).to.deep.equal(first);
    });

    it("refuses another request under the same key and starts nothing", async () => {
      await started(spec(), "key");
      const error = await refused(spec({ upgradeNow: true }), "key");
      expect(error._tag).to.equal("BadRequest");
      expect(codesOf(error)).to.deep.equal(["IDEMPOTENCY_KEY_REUSED"]);
      expect("problems" in error && error.problems[0]?.path).to.equal("Idempotency-Key");
      expect(ports.starts).to.have.length(1);
    });

    it("refuses a key whose upgrade was started without a digest", async () => {
      ports.startedBefore("dev/key", initialTask(samplePlan()), undefined);
      expect(codesOf(await refused(spec(), "key"))).to.deep.equal(["IDEMPOTENCY_KEY_REUSED"]);
    });

    it("leaves the key free after a refusal", async () => {
      expect((await refused(spec(past), "key"))._tag).to.equal("BadRequest");
      expect((await started(spec(), "key")).id).to.equal("dev/key");
    });

    describe("that another request uses at the same moment", () => {
      const theirs = initialTask(samplePlan({ id: "theirs" }));

      it("answers the Task of the one that was first", async () => {
        ports.beforeStart = () => ports.startedBefore("dev/key", theirs, JSON.stringify(spec()));
        expect(await started(spec(), "key")).to.equal(theirs);
      });

      it("is refused where that one was another request", async () => {
        ports.beforeStart = () => ports.startedBefore("dev/key", theirs, "another digest");
        expect(codesOf(await refused(spec(), "key"))).to.deep.equal(["IDEMPOTENCY_KEY_REUSED"]);
      });

      it("answers its Task also where that one has taken the lock in the meantime", async () => {
        const { dependencies } = ports;
        const { lockHolders } = dependencies.executions;
        const racing = createUpgradeService({
          ...dependencies,
          executions: {
            ...dependencies.executions,
            lockHolders: (ids) => {
              ports.startedBefore("dev/key", theirs, JSON.stringify(spec()));
              ports.lockHolders.set("cluster/c1", "dev/key");
              return lockHolders(ids);
            },
          },
        });
        const outcome = await racing.startUpgrade({ spec: spec(), caller: "dev", idempotencyKey: "key" })();
        expect(outcome).to.deep.equal(E.right(theirs));
        expect(ports.starts).to.deep.equal([]);
      });

      it("gives one Task to a hundred of them", async () => {
        const tasks = await Promise.all(Array.from({ length: 100 }, () => started(spec(), "key")));
        expect(new Set(tasks.map(({ id }) => id))).to.deep.equal(new Set(["dev/key"]));
        expect(new Set(ports.starts.map(({ plan }) => plan.id))).to.deep.equal(new Set(["dev/key"]));
      });
    });
  });
});

import { expect } from "chai";
import * as E from "fp-ts/Either";
import { temporalUnreachable } from "../../../src/upgrades/service-error";
import { CheckTimes } from "../../../src/domain/readiness/readiness-spec";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import type { UpgradeService } from "../../../src/upgrades/upgrade-service";
import { sampleBundle, sampleCluster } from "../../support/sample-plan";
import { FakePorts } from "./fake-ports";

const uuid = "6f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11";
const id = `${uuid}-readiness`;

describe("A readiness check", () => {
  let ports: FakePorts;
  let service: UpgradeService;
  beforeEach(() => {
    ports = new FakePorts();
    ports.clusters.push(sampleCluster("c-1"), sampleCluster("c-2"));
    const { identities } = ports.dependencies;
    const fixed = { ...identities, newId: () => uuid, idFor: () => uuid };
    service = createUpgradeService({ ...ports.dependencies, identities: fixed });
  });

  const spec = { bundleId: sampleBundle.id, resourceIds: ["c-1", "c-2"] };
  const nightly = { cron: "0 2 * * *", timeZone: "Europe/Berlin" };
  const start = (more: object = {}, idempotencyKey?: string) =>
    service.startReadiness({
      spec: { ...spec, ...more },
      caller: "alice",
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    })();
  const problemOf = (result: E.Either<unknown, unknown>) =>
    E.isLeft(result) ? (result.left as { problems?: { code: string; path?: string }[] }).problems?.[0] : undefined;
  const right = <A>(result: E.Either<unknown, A>): A => {
    if (E.isLeft(result)) throw new Error(JSON.stringify(result.left));
    return result.right;
  };

  it("is a Task with a part for each resource, read by its id like any other, and starts no upgrade", async () => {
    const task = right(await start());
    expect(task).to.deep.include({ id, type: "READINESS", status: "Pending", isCancellable: true });
    expect(task.name).to.equal("Check 2 clusters for 9.0.2");
    expect(task.subTasks?.map(({ resources }) => resources?.[0]?.resourceId)).to.deep.equal(["c-1", "c-2"]);
    expect(right(await service.getTask(id)())).to.deep.equal(task);
    expect(right(await service.listReadiness()()).elements).to.deep.equal([task]);
    expect(ports.starts).to.deep.equal([]);
    expect(ports.readiness.schedules.size).to.equal(0);
  });

  it("needs no lock: what another upgrade holds, a freeze or a hold keeps it from nothing", async () => {
    ports.lockHolders.set("cluster/c-1", "other");
    ports.frozen.set("", { reason: "x", frozenBy: "bob", since: "2026-11-01T12:00:00.000Z" });
    const held = { clusterId: "c-1", clusterName: "c-1", reason: "x", placedBy: "bob" };
    ports.held.set("hold/c-1", { ...held, since: "2026-11-01T12:00:00.000Z" });
    expect(E.isRight(await start())).to.equal(true);
  });

  it("is refused by the fields of its own request where the upgrade could not be planned", async () => {
    ports.lookups.set("c-2", { _tag: "Unknown" });
    expect(problemOf(await start())).to.deep.include({ code: "RESOURCE_UNKNOWN", path: "resourceIds[1]" });
    ports.lookups.clear();
    expect(problemOf(await start({ bundleId: "nowhere" }))).to.deep.include({ code: "BUNDLE_UNKNOWN" });
    ports.failing.catalog = temporalUnreachable("away");
    expect(E.isLeft(await start())).to.equal(true);
    expect(ports.readiness.started.size).to.equal(0);
  });

  it("is started once for each Idempotency-Key", async () => {
    const first = right(await start({}, "key"));
    expect(right(await start({}, "key"))).to.deep.equal(first);
    expect(problemOf(await start({ resourceIds: ["c-1"] }, "key"))).to.deep.include({ code: "IDEMPOTENCY_KEY_REUSED" });
    ports.lookups.set("c-2", { _tag: "Unknown" });
    expect(right(await start({}, "key")), "after a cluster has gone").to.deep.equal(first);
    expect(ports.readiness.started.size).to.equal(1);
  });

  it("keeps a schedule under the id of its first run, until that is deleted", async () => {
    expect(right(await start({ schedule: nightly })).id).to.equal(id);
    const [schedule] = right(await service.listReadinessSchedules()()).elements ?? [];
    expect(schedule).to.deep.include({ id, ...spec, schedule: nightly, createdBy: "alice" });
    expect(E.isRight(await service.deleteReadinessSchedule(id)())).to.equal(true);
    expect(E.isLeft(await service.deleteReadinessSchedule(id)())).to.equal(true);
    expect(E.isLeft(await service.deleteReadinessSchedule("other")())).to.equal(true);
  });

  it("is not scheduled by a time zone that there is not, nor by a key of another request", async () => {
    const unknown = await start({ schedule: { ...nightly, timeZone: "Europe/Atlantis" } });
    expect(problemOf(unknown)).to.deep.include({ code: "CHECK_SCHEDULE_INVALID", path: "schedule.timeZone" });
    expect(ports.readiness.started.size).to.equal(0);
    right(await start({}, "key"));
    expect(E.isLeft(await start({ schedule: nightly }, "key"))).to.equal(true);
    expect(ports.readiness.schedules.size).to.equal(0);
  });

  it("is not scheduled by a range that ends before it begins", async () => {
    const backwards = await start({ schedule: { ...nightly, cron: "0 22-5 * * *" } });
    expect(problemOf(backwards)).to.deep.include({ code: "CHECK_SCHEDULE_INVALID", path: "schedule.cron" });
    expect(ports.readiness.started.size).to.equal(0);
  });

  it("takes cron fields in numbers", () => {
    const isCron = (cron: string) => CheckTimes.is({ cron, timeZone: "UTC" });
    for (const cron of ["0 2 * * *", "*/15 0-5,22-23 1 1-12 0", "30 10 31 2 6"])
      expect(isCron(cron), cron).to.equal(true);
    for (const cron of ["0 2 * *", "60 2 * * *", "0 2 0 * *", "0 2 * * MON", "@daily"])
      expect(isCron(cron), cron).to.equal(false);
  });

  it("is cancelled like a Task, but not retried, and not cancelled after its end", async () => {
    right(await start());
    expect(E.isLeft(await service.retryTask(id, "alice")())).to.equal(true);
    expect(right(await service.cancelTask(id, "alice")()).status).to.equal("Cancelled");
    expect(right(await service.cancelTask(id, "alice")()).status).to.equal("Cancelled");
    const ended = { ...right(await service.getTask(id)()), status: "Successful" as const };
    ports.readiness.tasks.set(id, ended);
    expect(await service.cancelTask(id, "alice")()).to.deep.include({ _tag: "Left" });
    const nowhere = await service.cancelTask("7f1f2a58-7f0a-4b7e-9d53-2c1f6a0c8e11-readiness", "alice")();
    expect(nowhere).to.have.nested.property("left._tag", "NotFound");
  });
});

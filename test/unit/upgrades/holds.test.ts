import { expect } from "chai";
import * as E from "fp-ts/Either";
import type { Hold, HoldTarget } from "../../../src/domain/hold";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import { temporalUnreachable } from "../../../src/upgrades/service-error";
import type { UpgradeService } from "../../../src/upgrades/upgrade-service";
import { sampleBundle, sampleCluster } from "../../support/sample-plan";
import { FakePorts, now } from "./fake-ports";
import { upgradeId } from "./fake-running-upgrades";

describe("Holds", () => {
  let ports: FakePorts;
  let service: UpgradeService;
  beforeEach(() => {
    ports = new FakePorts();
    ports.clusters.push(sampleCluster("c-1"), sampleCluster("c-2"));
    service = createUpgradeService(ports.dependencies);
  });

  const spec = {
    bundleId: sampleBundle.id,
    resourceType: "CLUSTER" as const,
    resourceUpgradeSpecs: [{ resourceId: "c-2" }, { resourceId: "c-1" }],
  };
  const start = (more: object = {}) => service.startUpgrade({ spec: { ...spec, ...more }, caller: "bob" })();
  const problemOf = (result: E.Either<unknown, unknown>) =>
    E.isLeft(result) ? (result.left as { problems?: { code: string; path?: string }[] }).problems?.[0] : undefined;
  const by = (caller: string, isAdmin = false) => ({ caller, isAdmin });
  const hold = (target: HoldTarget, caller = "alice", more: object = {}, isAdmin = false) =>
    service.putHold(target, { reason: "Storage", ...more }, by(caller, isAdmin))();
  const release = (target: HoldTarget, caller: string, isAdmin = false) =>
    service.releaseHold(target, by(caller, isAdmin))();
  const placed = (result: E.Either<unknown, Hold>) => (E.isRight(result) ? result.right : undefined);
  const cluster = { clusterId: "c-1" };
  const host = { clusterId: "c-1", hostId: "host-1" };

  it("refuse starts and commits of a held cluster by its field, and warn of it in a draft", async () => {
    await hold(cluster);
    expect(problemOf(await start())).to.deep.include({
      code: "RESOURCE_HELD",
      path: "resourceUpgradeSpecs[1].resourceId",
      message: "alice has held cluster c-1-name since 2026-11-01T12:00:00.000Z: Storage.",
    });
    expect(problemOf(await service.previewUpgrade(spec)())).to.deep.include({ code: "RESOURCE_HELD" });
    const draft = await start({ draftMode: true });
    expect(E.isRight(draft) && draft.right.warnings?.map(({ code }) => code)).to.deep.equal(["RESOURCE_HELD"]);
    expect(E.isRight(await start({ resourceUpgradeSpecs: [{ resourceId: "c-2" }] }))).to.equal(true);
    ports.running.upgrade = { ...ports.running.upgrade, status: "DRAFT" };
    const ofPlan = ports.running.plan.products[0]?.resources[0]?.resourceId ?? "";
    ports.held.set(`hold/${ofPlan}`, { ...cluster, clusterName: "x", reason: "y", placedBy: "alice", since: "z" });
    expect(problemOf(await service.updateUpgrade(upgradeId, {}, "bob")())).to.deep.include({ code: "RESOURCE_HELD" });
  });

  it("warn of a held host, which refuses nothing", async () => {
    expect(placed(await hold(host))).to.deep.include({ hostId: "host-1", hostName: "esx-1", placedBy: "alice" });
    const started = await start();
    expect(E.isRight(started) && started.right.warnings).to.deep.equal([
      {
        path: "resourceUpgradeSpecs[1].resourceId",
        code: "HOST_HELD",
        message: "alice has held host esx-1 of cluster c-1-name since 2026-11-01T12:00:00.000Z: Storage.",
      },
    ]);
    const scoped = await start({ resourceUpgradeSpecs: [{ resourceId: "c-1", hosts: { exclude: ["esx-2"] } }] });
    expect(problemOf(scoped)?.code).to.equal("HOST_UNKNOWN");
  });

  it("start nothing where they cannot be read", async () => {
    ports.failing.holds = temporalUnreachable("away");
    expect(E.isLeft(await start())).to.equal(true);
    expect(ports.starts).to.deep.equal([]);
  });

  it("are released and replaced by who has placed them and by an ADMIN, by nobody else", async () => {
    await hold(cluster);
    expect(problemOf(await release(cluster, "bob"))).to.deep.include({ code: "HOLD_OF_ANOTHER" });
    expect(problemOf(await hold(cluster, "bob"))).to.deep.include({ code: "HOLD_OF_ANOTHER" });
    expect(ports.held.get("hold/c-1")?.placedBy).to.equal("alice");
    expect(placed(await hold(cluster, "alice", { reason: "Again" }))?.reason).to.equal("Again");
    expect(placed(await hold(cluster, "carol", {}, true))?.placedBy).to.equal("carol");
    expect(E.isLeft(await release(cluster, "alice"))).to.equal(true);
    expect(E.isRight(await release(cluster, "dave", true))).to.equal(true);
    expect(ports.held.size).to.equal(0);
    expect(E.isRight(await release(cluster, "bob"))).to.equal(true);
  });

  it("are not taken over where another one is first at the same moment", async () => {
    const { read } = ports.holds;
    let looks = 0;
    const racing = {
      ...ports.dependencies,
      holds: { ...ports.holds, read: (targets: readonly HoldTarget[]) => (looks++ === 0 ? read([]) : read(targets)) },
    };
    await hold(cluster, "carol");
    const second = await createUpgradeService(racing).putHold(cluster, { reason: "x" }, by("alice"))();
    expect(problemOf(second)).to.deep.include({ code: "HOLD_OF_ANOTHER" });
    expect(ports.held.get("hold/c-1")?.placedBy).to.equal("carol");
  });

  it("are of what there is, under its id, and end in the future", async () => {
    expect(placed(await hold({ ...host, hostId: "ESX-1" }))?.hostId).to.equal("host-1");
    expect(E.isRight(await release({ ...host, hostId: "ESX-1" }, "alice"))).to.equal(true);
    expect(ports.held.size).to.equal(0);
    expect(await hold({ ...host, hostId: "esx-9" })).to.deep.include({
      left: { _tag: "NotFound", resource: "host", id: "esx-9" },
    });
    expect(await hold({ clusterId: "c-9" })).to.deep.include({
      left: { _tag: "NotFound", resource: "cluster", id: "c-9" },
    });
    expect(E.isLeft(await release({ clusterId: "c-9" }, "alice"))).to.equal(true);
    const past = new Date(now).toISOString();
    expect(problemOf(await hold(cluster, "alice", { until: past }))).to.deep.include({
      code: "SCHEDULE_IN_THE_PAST",
      path: "until",
    });
    ports.hosts.set("c-1", E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "away" }));
    expect(problemOf(await hold(host))?.code).to.equal("COMPONENT_MANAGER_UNREACHABLE");
    expect(E.isRight(await hold(cluster))).to.equal(true);
  });

  it("are shown with clusters and hosts, and listed with the oldest first", async () => {
    await hold(cluster);
    await hold(host);
    const one = await service.readCluster("c-1")();
    const shown = E.isRight(one) ? one.right : undefined;
    expect(shown?.hold).to.deep.include({ placedBy: "alice", reason: "Storage" });
    expect(shown?.hosts?.[0]?.hold).to.deep.include({ hostId: "host-1" });
    const all = await service.listClusters()();
    const elements = E.isRight(all) ? all.right.elements : [];
    expect(elements?.map((each) => each.hold?.clusterId)).to.deep.equal(["c-1", undefined]);
    const listed = await service.listHolds({ pageNumber: 0, pageSize: 1 })();
    expect(E.isRight(listed) && listed.right.pageMetadata?.totalElements).to.equal(2);
  });
});

import { expect } from "chai";
import * as E from "fp-ts/Either";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import { temporalUnreachable } from "../../../src/upgrades/service-error";
import type { UpgradeService } from "../../../src/upgrades/upgrade-service";
import { sampleBundle, sampleCluster } from "../../support/sample-plan";
import { FakePorts } from "./fake-ports";
import { upgradeId } from "./fake-running-upgrades";

describe("The emergency stop", () => {
  let ports: FakePorts;
  let service: UpgradeService;
  beforeEach(() => {
    ports = new FakePorts();
    ports.clusters.push(sampleCluster("c-1"), sampleCluster("c-2", { domain: "ams1" }));
    service = createUpgradeService(ports.dependencies);
  });

  const spec = {
    bundleId: sampleBundle.id,
    resourceType: "CLUSTER" as const,
    resourceUpgradeSpecs: [{ resourceId: "c-1" }],
  };
  const start = (more: object = {}) => service.startUpgrade({ spec: { ...spec, ...more }, caller: "bob" })();
  const problemOf = (result: E.Either<unknown, unknown>) =>
    E.isLeft(result) ? (result.left as { problems?: { code: string; path?: string }[] }).problems?.[0] : undefined;

  it("refuses starts of what is frozen, not of other domains and not of drafts", async () => {
    await service.putFreeze({ reason: "Stop", domains: ["fra1"] }, "alice")();
    expect(problemOf(await start())).to.deep.include({ code: "FROZEN" });
    expect(E.isRight(await start({ draftMode: true }))).to.equal(true);
    await service.liftFreeze("fra1", "alice")();
    await service.putFreeze({ reason: "Stop", domains: ["ams1"] }, "alice")();
    expect(E.isRight(await start())).to.equal(true);
  });

  it("starts nothing where it cannot be read", async () => {
    ports.failing.freezes = temporalUnreachable("away");
    expect(E.isLeft(await start())).to.equal(true);
    expect(ports.starts).to.deep.equal([]);
  });

  it("refuses a commit, and asks the upgrade nothing", async () => {
    ports.running.upgrade = { ...ports.running.upgrade, status: "DRAFT" };
    await service.putFreeze({ reason: "Stop" }, "alice")();
    expect(problemOf(await service.updateUpgrade(upgradeId, {}, "bob")())).to.deep.include({ code: "FROZEN" });
  });

  it("lifts one domain or all, and freezes only what there is", async () => {
    await service.putFreeze({ reason: "Stop", domains: ["fra1", "ams1"] }, "alice")();
    await service.putFreeze({ reason: "Stop all" }, "carol")();
    expect([...ports.frozen.keys()].sort()).to.deep.equal(["", "ams1", "fra1"]);
    await service.liftFreeze("ams1", "alice")();
    expect([...ports.frozen.keys()].sort()).to.deep.equal(["", "fra1"]);
    const lifted = await service.liftFreeze(undefined, "alice")();
    expect(lifted).to.deep.equal(E.right({ frozen: false, freezes: [], hostsInWork: 0 }));
    const unknown = await service.putFreeze({ reason: "Stop", domains: ["fra1", "nowhere"] }, "alice")();
    expect(problemOf(unknown)).to.deep.include({ code: "DOMAIN_UNKNOWN", path: "domains[1]" });
    expect(ports.frozen.size).to.equal(0);
  });
});

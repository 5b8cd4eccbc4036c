import { expect } from "chai";
import * as E from "fp-ts/Either";
import type * as TE from "fp-ts/TaskEither";
import { type ClusterEntryFacts, defaultRolloutPolicy } from "../../../src/domain/plan/facts";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import { failedDependency, notFound, type ServiceError } from "../../../src/upgrades/service-error";
import { sampleBundle, sampleCluster } from "../../support/sample-plan";
import { FakePorts } from "./fake-ports";

const entry = (resourceId: string): ClusterEntryFacts => ({
  resourceId,
  name: `${resourceId}-name`,
  domain: "fra1",
  platformVersion: "5.2",
  componentManagerId: "vc01",
  cluster: `domain-${resourceId}`,
  managementServer: "mgmt-1",
  rollout: defaultRolloutPolicy,
});

function right<A>(result: E.Either<ServiceError, A>): A {
  if (E.isLeft(result)) throw new Error(JSON.stringify(result.left));
  return result.right;
}

describe("Bundles and clusters to choose from", () => {
  let ports: FakePorts;
  const service = () => createUpgradeService(ports.dependencies);
  beforeEach(() => {
    ports = new FakePorts();
    ports.clusters.push(entry("c1"), entry("c2"), entry("c3"));
  });

  it("lists the bundles of the catalog, whole or by the page", async () => {
    const all = right(await service().listBundles()());
    expect(all.elements?.map(({ id }) => id)).to.deep.equal([sampleBundle.id, "second", "third"]);
    expect(all.pageMetadata).to.deep.equal({ pageNumber: 0, pageSize: 1000, totalElements: 3, totalPages: 1 });
    const last = right(await service().listBundles({ pageNumber: 1, pageSize: 2 })());
    expect(last.elements?.map(({ id }) => id)).to.deep.equal(["third"]);
    expect(last.pageMetadata).to.deep.equal({ pageNumber: 1, pageSize: 2, totalElements: 3, totalPages: 2 });
    expect(right(await service().listBundles({ pageNumber: 2 ** 31 - 1, pageSize: 1000 })()).elements).to.deep.equal(
      [],
    );
  });

  it("reads one bundle", async () => {
    expect(await service().readBundle(sampleBundle.id)()).to.deep.equal(E.right(sampleBundle));
    expect(await service().readBundle("none")()).to.deep.equal(E.left(notFound("bundle", "none")));
  });

  it("lists clusters with their kind, hosts in number, and who holds them", async () => {
    ports.lookups.set("c2", { _tag: "Known", facts: sampleCluster("c2", { kind: "BASELINE", hostCount: 7 }) });
    ports.lockHolders.set("cluster/c2", "upgrade-2");
    const { elements = [] } = right(await service().listClusters()());
    expect(
      elements.map(({ id, kind, isImageBased, hostCount, heldBy }) => [id, kind, isImageBased, hostCount, heldBy]),
    ).to.deep.equal([
      ["c1", "IMAGE", true, 3, undefined],
      ["c2", "BASELINE", false, 7, "upgrade-2"],
      ["c3", "IMAGE", true, 3, undefined],
    ]);
  });

  it("shows the domain of a cluster as an object, which is what published clients decode", async () => {
    expect(right(await service().readCluster("c1")()).domain).to.deep.equal({ id: "fra1", name: "fra1" });
    expect(right(await service().listClusters()()).elements?.[0]?.domain).to.deep.equal({ id: "fra1", name: "fra1" });
  });

  it("shows who holds a cluster through its management server", async () => {
    ports.lockHolders.set("mgmt/mgmt-1", "upgrade-9");
    const { heldBy, heldByName } = right(await service().readCluster("c1")());
    expect([heldBy, heldByName]).to.deep.equal(["upgrade-9", "Upgrade fra1-prod to 9.0.2"]);
  });

  it("asks component managers only for the clusters of the page", async () => {
    const asked: string[] = [];
    const { inventory } = ports.dependencies;
    const counting = createUpgradeService({
      ...ports.dependencies,
      inventory: {
        ...inventory,
        readClusters: (ids) => {
          asked.push(...ids);
          return inventory.readClusters(ids);
        },
      },
    });
    const page = right(await counting.listClusters({ pageNumber: 1, pageSize: 1 })());
    expect(asked).to.deep.equal(["c2"]);
    expect(page.pageMetadata).to.deep.equal({ pageNumber: 1, pageSize: 1, totalElements: 3, totalPages: 3 });
  });

  it("says of a cluster why nothing more is known of it, and answers all the same", async () => {
    ports.lookups.set("c1", {
      _tag: "Unread",
      name: "fra1-prod",
      componentManagerId: "vc01",
      silence: { code: "COMPONENT_MANAGER_UNREACHABLE", reason: "connection refused" },
    });
    ports.lookups.set("c2", { _tag: "Unknown" });
    const { elements = [] } = right(await service().listClusters()());
    expect(elements[0]).to.not.have.any.keys("kind", "hostCount");
    expect(elements[0]?.errors?.[0]).to.include({
      errorCode: "COMPONENT_MANAGER_UNREACHABLE",
      message: "Component manager vc01 did not answer as expected: connection refused.",
    });
    expect(elements[1]?.errors?.[0]).to.include({ errorCode: "RESOURCE_NOT_FOUND" });
    expect(right(await service().readCluster("c1")())).to.deep.equal(elements[0]);
  });

  it("reads one cluster with its hosts and their different versions", async () => {
    ports.hosts.set(
      "c1",
      E.right([
        { id: "host-1", fqdn: "esx-1", version: "9.0.1" },
        { id: "host-2", fqdn: "esx-2", version: "9.0.0" },
        { id: "host-3", fqdn: "esx-3", version: "9.0.1" },
        { id: "host-4", fqdn: "esx-4" },
      ]),
    );
    const cluster = right(await service().readCluster("c1")());
    expect(cluster).to.deep.include({ id: "c1", kind: "IMAGE", hostCount: 4, versions: ["9.0.0", "9.0.1"] });
    expect(cluster.hosts?.map(({ fqdn }) => fqdn)).to.deep.equal(["esx-1", "esx-2", "esx-3", "esx-4"]);
  });

  it("shows what else it knows where the hosts cannot be read", async () => {
    ports.hosts.set("c1", E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "vc01: no session" }));
    const cluster = right(await service().readCluster("c1")());
    expect(cluster).to.include({ kind: "IMAGE", hostCount: 3 }).and.not.have.property("hosts");
    expect(cluster.errors?.[0]?.message).to.equal(
      "Component manager vc01 did not answer as expected: vc01: no session.",
    );
  });

  it("does not find a cluster that the inventory does not have", async () => {
    expect(await service().readCluster("c9")()).to.deep.equal(E.left(notFound("cluster", "c9")));
  });

  it("fails as a read does where Temporal, which knows the holders, does not answer", async () => {
    const lost = failedDependency({ code: "TEMPORAL_UNREACHABLE", message: "No.", remediation: "Wait." });
    ports.failing = { lockHolders: lost };
    for (const read of [service().listClusters(), service().readCluster("c1")] as TE.TaskEither<
      ServiceError,
      unknown
    >[]) {
      expect(await read()).to.have.nested.property("left._tag", "TemporalUnreachable");
    }
  });
});

describe("previewUpgrade", () => {
  const spec = {
    bundleId: sampleBundle.id,
    resourceType: "CLUSTER" as const,
    resourceUpgradeSpecs: [
      {
        resourceId: "c1",
        scheduledTimestamp: "2026-12-01T00:00:00.000Z",
        hostosUpgradeOptionsSpec: {
          hostosUpgradeFailureAction: { action: "RETRY" as const, retryCount: 2, retryDelay: 60 },
          disableDpm: true,
        },
      },
    ],
  };

  it("gives what the start would do, and starts nothing", async () => {
    const ports = new FakePorts();
    expect(right(await createUpgradeService(ports.dependencies).previewUpgrade(spec)())).to.deep.equal({
      name: "Upgrade c1-name to 9.0.2",
      bundleId: sampleBundle.id,
      bundleVersion: "9.0.2",
      draftMode: false,
      products: [
        {
          product: "HOSTOS",
          resources: [
            {
              resourceId: "c1",
              name: "c1-name",
              kind: "IMAGE",
              targetVersion: "9.0.2-0.25148076",
              maximumAttempts: 3,
              retryDelay: 60,
              scheduledTimestamp: "2026-12-01T00:00:00.000Z",
              hostsAtOnce: 1,
              soakSeconds: 0,
              healthGate: true,
              toleratedFailures: 0,
              hostCount: 1,
              hostsAtTarget: 0,
              hostVersions: [{ version: "9.0.0", hosts: 1 }],
              hostosUpgradeOptionsSpec: { disableDpm: true },
            },
          ],
        },
      ],
      waves: [
        {
          product: "HOSTOS",
          wave: 1,
          scheduledTimestamp: "2026-12-01T00:00:00.000Z",
          parts: [{ resourceId: "c1", name: "c1-name", hosts: ["esx-1"] }],
        },
      ],
    });
    expect(ports.starts).to.deep.equal([]);
  });

  it("says whose hosts are not known, and is good without them", async () => {
    const ports = new FakePorts();
    ports.hosts.set("c1", E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "it is away" }));
    const { products, waves } = right(await createUpgradeService(ports.dependencies).previewUpgrade(spec)());
    expect(products[0]?.resources[0]?.errors?.[0]?.message).to.contain("it is away");
    expect(waves).to.have.length(1);
    expect(waves[0]?.parts).to.deep.equal([{ resourceId: "c1", name: "c1-name" }]);
  });

  it("expects it to take as long as earlier upgrades of its clusters did, and asks for all of them at once", async () => {
    const ports = new FakePorts();
    const work = (resourceId: string, groupSeconds: number) => ({ resourceId, kind: "IMAGE" as const, groupSeconds });
    ports.work = [work("c1", 600), work("c2", 900)];
    const both = { ...spec, resourceUpgradeSpecs: [{ resourceId: "c1" }, { resourceId: "c2" }] };
    const preview = right(await createUpgradeService(ports.dependencies).previewUpgrade(both)());
    expect(preview.products[0]?.resources.map(({ expectedSeconds }) => expectedSeconds)).to.deep.equal([600, 900]);
    expect(preview.expectedSeconds, "in parallel").to.equal(900);
    expect(ports.forecasts).to.deep.equal([["c1", "c2"]]);
  });

  it("warns of a draft whose cluster another upgrade holds, and the start does as well", async () => {
    const ports = new FakePorts();
    ports.lockHolders.set("cluster/c1", "the-other");
    const service = createUpgradeService(ports.dependencies);
    const draft = { ...spec, draftMode: true };
    const { warnings = [] } = right(await service.previewUpgrade(draft)());
    expect(warnings.map(({ code, path }) => [code, path])).to.deep.equal([
      ["RESOURCE_LOCKED", "resourceUpgradeSpecs[0].resourceId"],
    ]);
    expect(warnings[0]?.message).to.contain("held by upgrade fra1-prod to 9.0.2 (the-other)").and.contain("commit");
    expect(right(await service.startUpgrade({ spec: draft, caller: "a" })()).warnings).to.deep.equal(warnings);
    const now = { ...spec, resourceUpgradeSpecs: [{ resourceId: "c1" }] };
    expect(E.isLeft(await service.startUpgrade({ spec: now, caller: "a" })())).to.equal(true);
  });

  it("says whether the window is open now, and warns where it is closed at the time that is asked for", async () => {
    const ports = new FakePorts();
    ports.opening = {
      ...{ isOpen: false, because: "OUTSIDE_MAINTENANCE_WINDOW", id: "nights" },
      opensAt: Date.parse("2026-12-05T21:00:00Z"),
    };
    const service = createUpgradeService(ports.dependencies);
    const { products, warnings = [] } = right(await service.previewUpgrade(spec)());
    expect(products[0]?.resources[0]?.maintenance).to.deep.equal({
      isOpen: false,
      opensAt: "2026-12-05T21:00:00.000Z",
    });
    expect(warnings.map(({ code, path }) => [code, path])).to.deep.equal([
      ["OUTSIDE_MAINTENANCE_WINDOW", "resourceUpgradeSpecs[0].scheduledTimestamp"],
    ]);
    expect(warnings[0]?.message)
      .to.contain("At 2026-12-01T00:00:00.000Z")
      .and.contain("It begins at 2026-12-05T21:00:00.000Z");
  });

  it("warns of a cluster that another upgrade holds where the time is farther than the locks are held", async () => {
    const ports = new FakePorts();
    ports.lockHolders.set("cluster/c1", "the-other");
    const service = createUpgradeService(ports.dependencies);
    const inMinutes = (minutes: number) => {
      const scheduledTimestamp = new Date(ports.dependencies.identities.now() + minutes * 60_000).toISOString();
      return { ...spec, resourceUpgradeSpecs: [{ resourceId: "c1", scheduledTimestamp }] };
    };
    const { warnings = [] } = right(await service.startUpgrade({ spec: inMinutes(61), caller: "a" })());
    expect(warnings.map(({ code }) => code)).to.deep.equal(["RESOURCE_LOCKED"]);
    expect(warnings[0]?.message).to.contain("the-other").and.contain("60 minutes before");
    expect(E.isLeft(await service.startUpgrade({ spec: inMinutes(59), caller: "a" })())).to.equal(true);
  });

  it("gives the errors that the start would give", async () => {
    const ports = new FakePorts();
    ports.lockHolders.set("cluster/c1", "the-other");
    const wrong = { ...spec, bundleId: "none", parallelUpgrade: false };
    const start = createUpgradeService(ports.dependencies);
    expect(await start.previewUpgrade(wrong)()).to.deep.equal(await start.startUpgrade({ spec: wrong, caller: "a" })());
    expect(E.isLeft(await start.previewUpgrade(wrong)())).to.equal(true);
  });
});

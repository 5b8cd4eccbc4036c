import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import type { ManagerSilence } from "../../../src/domain/manager-silence";
import type { Installations } from "../../../src/domain/plan/facts";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import { FakePorts } from "./fake-ports";

const installations: Installations = {
  netvirt: [
    {
      resourceId: "n1",
      name: "nsx-01",
      componentManagerId: "nsx",
      domain: "fra1",
      domainName: "Frankfurt 1",
      clusters: ["c1"],
      members: [{ resourceId: "c1", name: "c1-name", cluster: "domain-c1" }],
      fqdn: "nsx-01.example.com",
      sans: ["nsx-01.example.com", "nsx.example.com"],
    },
  ],
  management: [
    {
      resourceId: "m1",
      name: "vc-01",
      componentManagerId: "vc01",
      clusters: ["c1"],
      places: [{ domain: "fra1" }],
      fqdn: "vc-01.example.com",
    },
  ],
  personalities: [{ id: "p1", name: "golden", version: "9.0.2-0.25148076", addOn: { name: "vendor", version: "1" } }],
  isos: [{ id: "i1", name: "custom", version: "9.0.2-0.25148076" }],
};

function service(groups?: Parameters<typeof TE.fromEither<ManagerSilence, never>>[0]) {
  const { dependencies } = new FakePorts();
  const found = [
    { type: "HOST", id: "g1", name: "c1-name" },
    { type: "HOST", id: "g2", name: "elsewhere" },
    { type: "EDGE", id: "e1", name: "edge-01" },
  ] as const;
  return createUpgradeService({
    ...dependencies,
    inventory: {
      ...dependencies.inventory,
      installations,
      readNetvirtGroups: () => (groups ? TE.fromEither(groups) : TE.right(found)),
    },
  });
}

const elements = <A>(read: E.Either<unknown, { elements?: A[] }>): A[] =>
  E.isRight(read) ? (read.right.elements ?? []) : [];

describe("The lists of what a request can name", () => {
  it("have the ids and names of a NETVIRT instance's groups, and the cluster that each is", async () => {
    expect(elements(await service().listNetvirt()())).to.deep.equal([
      {
        id: "n1",
        name: "nsx-01",
        domain: { id: "fra1", name: "Frankfurt 1" },
        componentManagerId: "nsx",
        clusters: ["c1"],
        fqdn: "nsx-01.example.com",
        sans: ["nsx-01.example.com", "nsx.example.com"],
        hostClusters: [
          { id: "g1", name: "c1-name", clusterId: "c1" },
          { id: "g2", name: "elsewhere" },
        ],
        edgeClusters: [{ id: "e1", name: "edge-01" }],
      },
    ]);
  });

  it("say where a coordinator does not answer", async () => {
    const [instance] = elements(
      await service(E.left({ code: "COMPONENT_MANAGER_UNREACHABLE", reason: "it is away" })).listNetvirt()(),
    );
    expect(instance?.errors?.[0]?.message).to.contain("it is away");
    expect(instance).to.not.have.property("hostClusters");
  });

  it("have management servers, personalities and ISOs, by pages", async () => {
    const { listManagementServers, listPersonalities, listIsos } = service();
    expect(elements(await listManagementServers()()).map(({ id, fqdn }) => [id, fqdn])).to.deep.equal([
      ["m1", "vc-01.example.com"],
    ]);
    expect(elements(await listPersonalities()())).to.deep.equal(installations.personalities);
    expect(elements(await listIsos()())).to.deep.equal(installations.isos);
    expect(elements(await listIsos({ pageNumber: 1, pageSize: 1 })())).to.deep.equal([]);
  });
});

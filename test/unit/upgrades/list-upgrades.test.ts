import { expect } from "chai";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { createUpgradeService } from "../../../src/upgrades/create-upgrade-service";
import type { UpgradeFilter } from "../../../src/upgrades/ports";
import { notFound, unexpected } from "../../../src/upgrades/service-error";
import { sampleBundle } from "../../support/sample-plan";
import { emptyPage, FakePorts } from "./fake-ports";

describe("listUpgrades", () => {
  let ports: FakePorts;
  beforeEach(() => (ports = new FakePorts()));
  const list = (...args: Parameters<ReturnType<typeof createUpgradeService>["listUpgrades"]>) =>
    createUpgradeService(ports.dependencies).listUpgrades(...args)();

  it("hands filter and page to Temporal as they are", async () => {
    const filter: UpgradeFilter = { status: ["DRAFT"], bundleId: sampleBundle.id, bundleType: "HCI" };
    const page = { pageNumber: 2, pageSize: 10 };
    expect(await list(filter, page)).to.deep.equal(E.right(emptyPage));
    expect(await list({})).to.deep.equal(E.right(emptyPage));
    expect(ports.lists).to.deep.equal([
      { filter, page },
      { filter: {}, page: undefined },
    ]);
  });

  it("does not find a bundle of which neither the catalog nor an upgrade knows", async () => {
    expect(await list({ bundleId: "no-such-bundle" })).to.deep.equal(E.left(notFound("bundle", "no-such-bundle")));
  });

  it("finds the upgrades of a bundle that has left the catalog", async () => {
    const { dependencies } = ports;
    const found = { elements: [{ id: "u1", bundleId: "gone" }], pageMetadata: { totalElements: 1 } };
    const executions = { ...dependencies.executions, list: () => TE.right(found) };
    const { listUpgrades } = createUpgradeService({ ...dependencies, executions });
    expect(await listUpgrades({ bundleId: "gone" })()).to.deep.equal(E.right(found));
    const beyond = { ...found, elements: [] };
    const further = createUpgradeService({
      ...dependencies,
      executions: { ...executions, list: () => TE.right(beyond) },
    });
    expect(await further.listUpgrades({ bundleId: "gone" }, { pageNumber: 9, pageSize: 10 })()).to.deep.equal(
      E.right(beyond),
    );
  });

  it("answers an empty page where the upgrades of such a bundle are others than those that are asked for", async () => {
    const { dependencies } = ports;
    const all = { elements: [{ id: "u1", bundleId: "gone" }], pageMetadata: { totalElements: 1 } };
    const executions = {
      ...dependencies.executions,
      list: ({ status }: UpgradeFilter) => TE.right(status === undefined ? all : emptyPage),
    };
    const { listUpgrades } = createUpgradeService({ ...dependencies, executions });
    const filter: UpgradeFilter = { bundleId: "gone", status: ["DRAFT"] };
    expect(await listUpgrades(filter)()).to.deep.equal(E.right(emptyPage));
  });

  it("answers an empty page where a known bundle has no upgrades", async () => {
    expect(await list({ bundleId: sampleBundle.id })).to.deep.equal(E.right(emptyPage));
  });

  it("needs the catalog only for a bundle", async () => {
    const broken = unexpected("disk");
    ports.failing = { catalog: broken };
    expect(await list({ bundleId: sampleBundle.id })).to.deep.equal(E.left(broken));
    expect(await list({ status: ["PENDING"] })).to.deep.equal(E.right(emptyPage));
  });
});

import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { cluster, groups, mgmtId, partsOf, request, useServers } from "../../support/service/servers-under-test";
import { until } from "../../support/service/service-under-test";

describe("A management server, from POST to the end", function () {
  this.timeout(240_000);
  const { service, simulated, entries, ended } = useServers();

  it("is migrated with what the request says, and its switchover waits for its time, whatever happens to the worker", async () => {
    const startSwitchoverTimestamp = new Date(Date.now() + 20_000).toISOString();
    const input = {
      resourceId: mgmtId,
      upgradeMechanism: "ReducedDowntimeMigration",
      startSwitchoverTimestamp,
      temporaryNetwork: {
        networkMode: "STATIC",
        ipAddress: "10.20.30.40",
        subnetMask: "255.255.254.0",
        gateway: "10.20.31.254",
      },
    };
    const { id } = await service().startUpgrade(request("mgmt", { mgmtUpgradeUserInputSpecs: [input] }));
    const server = (task: Task) => partsOf(task, "MGMT_SERVER_UPGRADE")[0];
    const says = `Prepared. Switchover at ${startSwitchoverTimestamp}.`;
    const waits = await service().taskWhen(id, "says what it waits for", (task) => server(task)?.description === says);
    const stages = server(waits)?.stages?.map(({ type, status }) => `${type} ${status}`);
    expect(stages).to.include("WAIT_FOR_SWITCHOVER IN_PROGRESS");
    expect((await simulated()).managementServer.migration).to.deep.include({
      state: "PREPARED",
      network: {
        mode: "STATIC",
        ip_family: "IPV4",
        ip: "10.20.30.40",
        prefix: 23,
        gateway: "10.20.31.254",
        dns_servers: ["10.20.30.2", "10.20.30.3"],
      },
    });
    await service().killAndAwaitSuccessor("worker");
    expect(server(await service().task(id))?.description).to.equal(says);
    const done = await ended(id);
    expect([done.status, server(done)?.description]).to.deep.equal(["Successful", "Runs 9.0.2.0."]);
    const [switchover, ...more] = await entries("MGMT_SWITCHOVER_STARTED");
    expect(more).to.deep.equal([]);
    expect(Date.parse(switchover?.at ?? "")).to.be.at.least(Date.parse(startSwitchoverTimestamp));
    expect((await entries("MGMT_MIGRATION_APPLIED")).map(({ detail }) => detail)[0]).to.contain("BEFORE_SWITCHOVER");
    expect((await service().get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("COMPLETED_WITH_SUCCESS");
  });

  it("is updated in place while its worker is killed, and installed once", async () => {
    const { id } = await service().startUpgrade(
      request("mgmt", { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] }),
    );
    await until("it installs", async () => (await entries("MGMT_INSTALL_REQUESTED")).length > 0);
    await service().killAndAwaitSuccessor("worker");
    const done = await ended(id);
    expect([done.status, done.errors ?? []]).to.deep.equal(["Successful", []]);
    expect((await simulated()).managementServer.version).to.equal("9.0.2.0");
    for (const step of ["MGMT_STAGE_REQUESTED", "MGMT_INSTALL_REQUESTED", "MGMT_INSTALLED"])
      expect(await entries(step), step).to.have.length(1);
  });

  describe("requests about servers", () => {
    const network = {
      networkMode: "STATIC",
      ipAddress: "10.20.30.40",
      subnetMask: "255.255.255.0",
      gateway: "10.20.30.1",
    };
    const mgmtInput = "mgmtUpgradeUserInputSpecs[0]";
    const refusals: readonly [string, string, object, readonly string[]][] = [
      [
        "STATIC without its fields",
        "mgmt",
        { mgmtUpgradeUserInputSpecs: [{ temporaryNetwork: { networkMode: "STATIC" } }] },
        ["ipAddress", "subnetMask", "gateway"].map((field) => `${mgmtInput}.temporaryNetwork.${field}`),
      ],
      [
        "a bad address and a bad mask",
        "mgmt",
        {
          mgmtUpgradeUserInputSpecs: [
            { temporaryNetwork: { ...network, ipAddress: "10.20.30", subnetMask: "255.0.255.0" } },
          ],
        },
        ["ipAddress", "subnetMask"].map((field) => `${mgmtInput}.temporaryNetwork.${field}`),
      ],
      [
        "InPlace with a switchover time and a network",
        "mgmt",
        {
          mgmtUpgradeUserInputSpecs: [
            {
              upgradeMechanism: "InPlace",
              startSwitchoverTimestamp: "2099-01-01T00:00:00Z",
              temporaryNetwork: network,
            },
          ],
        },
        [`${mgmtInput}.startSwitchoverTimestamp`, `${mgmtInput}.temporaryNetwork`],
      ],
      [
        "NETVIRT inputs with a bundle of MGMT",
        "mgmt",
        { netvirtUpgradeUserInputSpecs: [{}] },
        ["netvirtUpgradeUserInputSpecs"],
      ],
      [
        "MGMT inputs with a bundle of NETVIRT",
        "netvirt",
        { mgmtUpgradeUserInputSpecs: [{}] },
        ["mgmtUpgradeUserInputSpecs"],
      ],
      [
        "options of hosts with a bundle of NETVIRT",
        "netvirt",
        {
          resourceUpgradeSpecs: [
            {
              resourceId: cluster("08"),
              hostosUpgradeOptionsSpec: { disableDpm: true, hostosUpgradeFailureAction: { action: "FAIL" } },
            },
          ],
        },
        ["resourceUpgradeSpecs[0].hostosUpgradeOptionsSpec.disableDpm"],
      ],
      [
        "hosts in an edge only upgrade",
        "netvirt",
        {
          netvirtUpgradeUserInputSpecs: [
            {
              netvirtHostClusterUpgradeSpecs: [{ hostClusterId: groups.prod1 }],
              netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true },
            },
          ],
        },
        ["netvirtUpgradeUserInputSpecs[0].netvirtHostClusterUpgradeSpecs"],
      ],
    ];
    for (const [what, bundleId, more, paths] of refusals)
      it(`refuses ${what} with 400, naming the path`, async () => {
        const { status, body } = await service().post<ErrorBody>("/v1/upgrades", request(bundleId, more));
        const found = [body, ...(body.nestedErrors ?? [])].flatMap(({ context }) => context?.["path"] ?? []);
        expect([status, [...new Set(found)].sort()], JSON.stringify(body)).to.deep.equal([400, [...paths].sort()]);
      });
  });
});

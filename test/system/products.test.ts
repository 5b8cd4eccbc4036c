import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ErrorBody } from "../../src/domain/error-body";
import type { SubTask, Task } from "../../src/domain/task";
import type { PageOfUpgrade, Upgrade } from "../../src/domain/upgrade";
import { ServiceUnderTest, until } from "./service-under-test";

const cluster = (n: string) => `4a6c1a1e-51b2-4d3c-9e0f-0000000000${n}`;
const group = (n: string) => `7b1e40c2-5d0a-4c6e-8f11-00000000${n}`;
const [netvirtId, mgmtId] = ["7b1e40c2-5d0a-4c6e-8f11-000000000001", "9c2f51d3-6e1b-4d7f-a022-000000000001"];
const groups = {
  edge1: group("e001"),
  edge2: group("e002"),
  prod1: group("0008"),
  prod2: group("0021"),
  mgmt: group("0034"),
};

/** A bundle of one product, as a catalog file has it. */
const bundle = (type: "NETVIRT" | "MGMT", toVersion: string) => ({
  id: type.toLowerCase(),
  type: "SDDC_MANAGER",
  version: "9.0.2",
  downloadStatus: "SUCCESSFUL",
  components: [{ id: type, type, toVersion }],
});

interface Group {
  readonly id: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly units: readonly { readonly name: string; readonly version: string }[];
}
interface Simulated {
  readonly nsxManagers: readonly [{ readonly components: readonly object[]; readonly groups: readonly Group[] }];
  readonly managementServer: { readonly version: string; readonly migration?: Record<string, unknown> };
}

const all = (parts: readonly SubTask[] = []): SubTask[] => parts.flatMap((part) => [part, ...all(part.subTasks)]);
const partsOf = (task: Task, type: string) => all(task.subTasks).filter((part) => part.type === type);
const hasEnded = ({ status }: Task) => !/Pending|In Progress/.test(status);

describe("NETVIRT and management servers, from POST to the end", function () {
  this.timeout(240_000);
  let service: ServiceUnderTest;
  const folder = mkdtempSync(join(tmpdir(), "ums-catalog-"));

  before(async () => {
    const catalog = join(folder, "bundles.yaml");
    const bundles = [bundle("NETVIRT", "9.0.1.0.24952111"), bundle("MGMT", "9.0.2.0")];
    writeFileSync(catalog, JSON.stringify(bundles));
    service = await ServiceUnderTest.start({ CATALOG_FILE: catalog, SIMULATOR_HOST_SECONDS: "1" });
  });
  after(async () => {
    await service.discard();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => service.resetSimulator());

  const request = (bundleId: string, more: object = {}) => ({
    bundleId,
    resourceType: "CLUSTER",
    resourceUpgradeSpecs: [{ resourceId: cluster("08"), upgradeNow: true }],
    ...more,
  });
  const hostSeconds = async (seconds: number) => {
    const settings = { method: "PATCH", body: JSON.stringify({ hostSeconds: seconds }) };
    await fetch(`${service.simulatorUrl}/simulator/settings`, {
      ...settings,
      headers: { "content-type": "application/json" },
    });
  };
  const simulated = async () => (await (await fetch(`${service.simulatorUrl}/simulator/state`)).json()) as Simulated;
  /** The coordinator's plan: everything of it but how far its nodes are. */
  const plan = async () => {
    const [{ components, groups: planned }] = (await simulated()).nsxManagers;
    return {
      components: components.map((one) => ({
        ...one,
        status: "",
        checks: undefined,
        endsAt: undefined,
        shown: undefined,
      })),
      groups: planned.map((one) => ({ ...one, revision: 0, units: one.units.map(({ name }) => name) })),
    };
  };
  const nodesOf = async (...ids: string[]) =>
    (await simulated()).nsxManagers[0].groups.filter(({ id }) => ids.includes(id)).flatMap(({ units }) => units);
  const namesOf = async (...ids: string[]) => (await nodesOf(...ids)).map(({ name }) => name);
  const entries = async (step: string) => (await service.ledger()).filter((entry) => entry.step === step);
  const started = async () => (await entries("NSX_NODE_STARTED")).map(({ host }) => host ?? "");
  /** Most of these nodes that were in work at the same time. */
  const mostAtOnce = async (...names: string[]) => {
    const steps = (await service.ledger()).filter(({ host = "" }) => names.includes(host)).map(({ step }) => step);
    let [now, most] = [0, 0];
    for (const step of steps) {
      if (step === "NSX_NODE_STARTED") most = Math.max(most, ++now);
      if (step === "NSX_NODE_UPGRADED") now--;
    }
    return most;
  };
  const ended = (id: string) => service.taskWhen(id, "has ended", hasEnded, 120);

  it("NETVIRT takes every field, shows groups and nodes while it runs, and repeats nothing when its worker is killed", async () => {
    const before = await plan();
    const input = {
      netvirtId,
      netvirtHostClusterUpgradeSpecs: [
        { hostClusterId: groups.prod1, hostParallelUpgrade: false, liveUpgrade: true },
        { hostClusterId: groups.mgmt, hostParallelUpgrade: true, liveUpgrade: false },
      ],
      netvirtEdgeClusterUpgradeSpecs: [{ edgeClusterId: groups.edge2, edgeParallelUpgrade: true }],
      netvirtUpgradeOptions: {
        isEdgeOnlyUpgrade: false,
        isHostClustersUpgradeParallel: false,
        isEdgeClustersUpgradeParallel: false,
      },
    };
    const { id } = await service.startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [input] }));

    const inWork = (part: SubTask) => part.status === "IN_PROGRESS" && / %\.$/.test(part.description);
    const hostsIn = (task: Task) => all(partsOf(task, "NETVIRT_HOST_UPGRADE"));
    const during = await service.taskWhen(
      id,
      "shows a host of NETVIRT in work",
      (task) => hostsIn(task).some((part) => part.type === "NETVIRT_NODE_UPGRADE" && inWork(part)),
      120,
    );
    const running = hostsIn(during).filter(
      ({ type, status }) => type === "NETVIRT_GROUP_UPGRADE" && status === "IN_PROGRESS",
    );
    expect(running[0]?.description).to.match(/^\d of \d nodes done\.$/);
    const upgrade = async () => (await service.get<Upgrade>(`/v1/upgrades/${id}`)).body;
    const listed = async () =>
      (await service.get<PageOfUpgrade>("/v1/upgrades")).body.elements?.find((one) => one.id === id);
    expect([during.status, (await upgrade()).status]).to.deep.equal(["In Progress", "INPROGRESS"]);
    expect(await listed()).to.deep.equal(await upgrade());
    await service.killAndAwaitSuccessor("worker");

    const done = await ended(id);
    expect([done.status, done.errors ?? []]).to.deep.equal(["Successful", []]);
    const settings = (await entries("NSX_SETTINGS_SET")).map(({ detail }) => detail);
    expect(settings.slice(0, 2)).to.deep.equal([
      'EDGE {"parallel":false,"pause_on_error":true,"pause_after_each_group":false}',
      'HOST {"parallel":false,"pause_on_error":true,"pause_after_each_group":false}',
    ]);
    const firstOf = new Map<string, Record<string, unknown>>();
    for (const { detail = "{}" } of await entries("NSX_GROUP_SET")) {
      const received = JSON.parse(detail) as Record<string, unknown>;
      if (!firstOf.has(String(received["id"]))) firstOf.set(String(received["id"]), received);
    }
    const mode = (upgradeMode: string, rebootless: string) => [
      { key: "upgrade_mode", value: upgradeMode },
      { key: "rebootless_upgrade", value: rebootless },
    ];
    expect(firstOf.get(groups.prod1)).to.deep.include({
      enabled: true,
      parallel: false,
      extended_configuration: mode("in_place", "true"),
    });
    expect(firstOf.get(groups.mgmt)).to.deep.include({
      enabled: true,
      parallel: true,
      extended_configuration: mode("maintenance_mode", "false"),
    });
    for (const left of [groups.prod2, groups.edge1]) expect(firstOf.get(left), left).to.include({ enabled: false });
    expect((await entries("NSX_UPGRADE_REQUESTED")).map(({ detail }) => detail)).to.deep.equal([
      "MP start",
      "EDGE start",
      "HOST start",
    ]);
    const wanted = await namesOf(groups.edge2, groups.prod1, groups.mgmt);
    const managers = (await started()).slice(0, 3);
    expect((await started()).sort()).to.deep.equal([...managers, ...wanted].sort());
    const inPlace = await namesOf(groups.prod1);
    const atOnce = await namesOf(groups.mgmt);
    expect(await mostAtOnce(...inPlace), "hostParallelUpgrade false").to.equal(1);
    expect(await mostAtOnce(...atOnce), "hostParallelUpgrade true").to.equal(atOnce.length);
    expect(await mostAtOnce(...inPlace, ...atOnce), "isHostClustersUpgradeParallel false").to.equal(atOnce.length);
    expect(await plan(), "the coordinator's plan is as it was").to.deep.equal(before);

    const leftOut = partsOf(done, "NETVIRT_GROUP_UPGRADE").filter(({ status }) => status === "NOT_APPLICABLE");
    expect(leftOut.map(({ resources }) => resources?.[0]?.resourceId)).to.deep.equal([groups.edge1, groups.prod2]);
    const shown = await upgrade();
    expect(shown.netvirtUpgradeUserInputSpec).to.deep.equal(input);
    expect([shown.status, shown.taskId]).to.deep.equal(["COMPLETED_WITH_SUCCESS", id]);
    expect(shown.endTime).to.equal(Date.parse(done.completionTimestamp ?? ""));
    expect(await listed()).to.deep.equal(shown);
  });

  it("NETVIRT is paused by a cancellation, its plan put back, and an edge only upgrade does the rest", async () => {
    const before = await plan();
    const oneByOne = { netvirtUpgradeOptions: { isEdgeClustersUpgradeParallel: false } };
    const { id } = await service.startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [oneByOne] }));
    await until("the managers are upgraded", async () => (await entries("NSX_NODE_UPGRADED")).length === 3);
    await hostSeconds(8);
    await until("an edge is in work", async () => (await started()).some((name) => name.includes("-edge-")));
    await service.withTemporal((client) => client.workflow.getHandle(id).cancel());
    const cancelled = await ended(id);
    expect(cancelled.status).to.equal("Cancelled");
    expect(await entries("NSX_PAUSE_REQUESTED")).not.to.be.empty;
    expect(await entries("NSX_NODE_UPGRADED")).to.have.length((await started()).length);
    expect(await plan()).to.deep.equal(before);
    expect(partsOf(cancelled, "NETVIRT_HOST_UPGRADE")[0]?.status).to.equal("NOT_APPLICABLE");

    await hostSeconds(1);
    const edgeOnly = { netvirtUpgradeUserInputSpecs: [{ netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true } }] };
    const { id: rest } = await service.startUpgrade(request("netvirt", edgeOnly));
    expect((await ended(rest)).status).to.equal("Successful");
    const edges = await namesOf(groups.edge1, groups.edge2);
    const begun = await started();
    expect(begun.filter((name) => name.includes("-edge-")).sort()).to.deep.equal(edges.sort());
    expect(begun.some((name) => name.includes("-esx-"))).to.equal(false);
    expect(await plan()).to.deep.equal(before);

    const { id: again } = await service.startUpgrade(request("netvirt", edgeOnly));
    expect((await ended(again)).status).to.equal("SKIPPED");
    expect(await started()).to.deep.equal(begun);
  });

  it("NETVIRT names the host that fails, refuses a retry while it is in maintenance mode, then upgrades only that", async () => {
    const before = await plan();
    const node = "fra1-esx-02.mgmt.example.com";
    await service.fault({ kind: "NSX_NODE_FAILS", node, times: 1, message: "the VIBs could not be installed" });
    const input = {
      netvirtHostClusterUpgradeSpecs: [{ hostClusterId: groups.mgmt, hostParallelUpgrade: true }],
      netvirtEdgeClusterUpgradeSpecs: [],
    };
    const { id } = await service.startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [input] }));
    const failed = await ended(id);
    expect([failed.status, failed.isRetryable]).to.deep.equal(["Failed", true]);
    expect(failed.errors?.[0]?.errorCode).to.equal("NETVIRT_UPGRADE_FAILED");
    expect(failed.errors?.[0]?.message).to.contain(node).and.to.contain("the VIBs could not be installed");
    expect(failed.errors?.[0]?.remediationMessage).to.contain("maintenance mode");
    const hostOf = (task: Task) => partsOf(task, "NETVIRT_NODE_UPGRADE").find(({ name }) => name === node);
    expect(hostOf(failed)?.status).to.equal("FAILED");
    expect(await plan()).to.deep.equal(before);

    await service.signalUpgrade(id, "retry");
    const refused = await service.taskWhen(
      id,
      "has failed again",
      (task) => hasEnded(task) && (task.errors?.length ?? 0) > 1,
      60,
    );
    expect(refused.errors?.[1]?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(refused.errors?.[1]?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "NETVIRT_NODE_IN_MAINTENANCE",
    ]);

    await fetch(`${service.simulatorUrl}/simulator/faults`, { method: "DELETE" });
    const begun = (await started()).length;
    await service.signalUpgrade(id, "retry");
    const done = await service.taskWhen(id, "is successful", ({ status }) => status === "Successful", 60);
    expect((await started()).slice(begun)).to.deep.equal([node]);
    expect([hostOf(done)?.status, done.resolutionStatus]).to.deep.equal(["SUCCESSFUL", "RESOLVED"]);
    expect(await plan()).to.deep.equal(before);
  });

  it("of two requests for the same NETVIRT that race one runs, whichever clusters they name", async () => {
    const posts = await Promise.all(
      ["08", "21"].map((n) =>
        service.post<Task & ErrorBody>("/v1/upgrades", {
          ...request("netvirt", {
            netvirtUpgradeUserInputSpecs: [{ netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true } }],
          }),
          resourceUpgradeSpecs: [{ resourceId: cluster(n) }],
        }),
      ),
    );
    const ends = await Promise.all(
      posts.map(async ({ status, body }) => {
        if (status !== 202) return `${status} ${body.errorCode}`;
        const task = await ended(body.id);
        return `${task.status} ${task.errors?.[0]?.errorCode ?? ""}`.trim();
      }),
    );
    expect(ends.filter((end) => end === "Successful")).to.have.length(1);
    expect(ends.find((end) => end !== "Successful")).to.be.oneOf(["403 RESOURCE_LOCKED", "Failed RESOURCE_LOCKED"]);
    expect(await entries("NSX_UPGRADE_REQUESTED")).to.have.length(1);
  });

  it("MGMT is migrated with what the request says, and its switchover waits for its time, whatever happens to the worker", async () => {
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
    const { id } = await service.startUpgrade(request("mgmt", { mgmtUpgradeUserInputSpecs: [input] }));
    const server = (task: Task) => partsOf(task, "MGMT_SERVER_UPGRADE")[0];
    const says = `Prepared. The switchover waits until ${startSwitchoverTimestamp}.`;
    const waits = await service.taskWhen(id, "says what it waits for", (task) => server(task)?.description === says);
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
    await service.killAndAwaitSuccessor("worker");
    expect(server(await service.task(id))?.description).to.equal(says);
    const done = await ended(id);
    expect([done.status, server(done)?.description]).to.deep.equal(["Successful", "Runs 9.0.2.0."]);
    const [switchover, ...more] = await entries("MGMT_SWITCHOVER_STARTED");
    expect(more).to.deep.equal([]);
    expect(Date.parse(switchover?.at ?? "")).to.be.at.least(Date.parse(startSwitchoverTimestamp));
    expect((await entries("MGMT_MIGRATION_APPLIED")).map(({ detail }) => detail)[0]).to.contain("BEFORE_SWITCHOVER");
    expect((await service.get<Upgrade>(`/v1/upgrades/${id}`)).body.status).to.equal("COMPLETED_WITH_SUCCESS");
  });

  it("MGMT is updated in place while its worker is killed, and installed once", async () => {
    const { id } = await service.startUpgrade(
      request("mgmt", { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] }),
    );
    await until("it installs", async () => (await entries("MGMT_INSTALL_REQUESTED")).length > 0);
    await service.killAndAwaitSuccessor("worker");
    const done = await ended(id);
    expect([done.status, done.errors ?? []]).to.deep.equal(["Successful", []]);
    expect((await simulated()).managementServer.version).to.equal("9.0.2.0");
    for (const step of ["MGMT_STAGE_REQUESTED", "MGMT_INSTALL_REQUESTED", "MGMT_INSTALLED"])
      expect(await entries(step), step).to.have.length(1);
  });

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
          { upgradeMechanism: "InPlace", startSwitchoverTimestamp: "2099-01-01T00:00:00Z", temporaryNetwork: network },
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
      const { status, body } = await service.post<ErrorBody>("/v1/upgrades", request(bundleId, more));
      const found = [body, ...(body.nestedErrors ?? [])].flatMap(({ context }) => context?.["path"] ?? []);
      expect([status, [...new Set(found)].sort()], JSON.stringify(body)).to.deep.equal([400, [...paths].sort()]);
    });
});

import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade, Upgrade } from "../../../src/domain/spec/upgrade";
import {
  cluster,
  flat,
  groups,
  netvirtId,
  partsOf,
  request,
  useServers,
} from "../../support/service/servers-under-test";
import { until } from "../../support/service/service-under-test";

describe("NETVIRT, from POST to the end", function () {
  this.timeout(240_000);
  const { service, simulated, hostSeconds, entries, ended } = useServers();

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
  const started = async () => (await entries("NSX_NODE_STARTED")).map(({ host }) => host ?? "");
  /** Most of these nodes that were in work at the same time. */
  const mostAtOnce = async (...names: string[]) => {
    const steps = (await service().ledger()).filter(({ host = "" }) => names.includes(host)).map(({ step }) => step);
    let [now, most] = [0, 0];
    for (const step of steps) {
      if (step === "NSX_NODE_STARTED") most = Math.max(most, ++now);
      if (step === "NSX_NODE_UPGRADED") now--;
    }
    return most;
  };

  it("takes every field, shows groups and nodes while it runs, and repeats nothing when its worker is killed", async () => {
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
    const { id } = await service().startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [input] }));

    const inWork = (part: SubTask) => part.status === "IN_PROGRESS" && / %\.$/.test(part.description);
    const hostsIn = (task: Task) => flat(partsOf(task, "NETVIRT_HOST_UPGRADE"));
    const during = await service().taskWhen(
      id,
      "shows a host of NETVIRT in work",
      (task) => hostsIn(task).some((part) => part.type === "NETVIRT_NODE_UPGRADE" && inWork(part)),
      120,
    );
    const running = hostsIn(during).filter(
      ({ type, status }) => type === "NETVIRT_GROUP_UPGRADE" && status === "IN_PROGRESS",
    );
    expect(running[0]?.description).to.match(/^\d of \d nodes done\.$/);
    const upgrade = async () => (await service().get<Upgrade>(`/v1/upgrades/${id}`)).body;
    const listed = async () =>
      (await service().get<PageOfUpgrade>("/v1/upgrades")).body.elements?.find((one) => one.id === id);
    expect([during.status, (await upgrade()).status]).to.deep.equal(["In Progress", "INPROGRESS"]);
    expect(await listed()).to.deep.equal(await upgrade());
    await service().killAndAwaitSuccessor("worker");

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

  it("is paused by a cancellation, its plan put back, and an edge only upgrade does the rest", async () => {
    const before = await plan();
    const oneByOne = { netvirtUpgradeOptions: { isEdgeClustersUpgradeParallel: false } };
    const { id } = await service().startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [oneByOne] }));
    await until("the managers are upgraded", async () => (await entries("NSX_NODE_UPGRADED")).length === 3);
    await hostSeconds(8);
    await until("an edge is in work", async () => (await started()).some((name) => name.includes("-edge-")));
    await service().withTemporal((client) => client.workflow.getHandle(id).cancel());
    const cancelled = await ended(id);
    expect(cancelled.status).to.equal("Cancelled");
    expect(await entries("NSX_PAUSE_REQUESTED")).not.to.be.empty;
    expect(await entries("NSX_NODE_UPGRADED")).to.have.length((await started()).length);
    expect(await plan()).to.deep.equal(before);
    expect(partsOf(cancelled, "NETVIRT_HOST_UPGRADE")[0]?.status).to.equal("NOT_APPLICABLE");

    await hostSeconds(1);
    const edgeOnly = { netvirtUpgradeUserInputSpecs: [{ netvirtUpgradeOptions: { isEdgeOnlyUpgrade: true } }] };
    const { id: rest } = await service().startUpgrade(request("netvirt", edgeOnly));
    expect((await ended(rest)).status).to.equal("Successful");
    const edges = await namesOf(groups.edge1, groups.edge2);
    const begun = await started();
    expect(begun.filter((name) => name.includes("-edge-")).sort()).to.deep.equal(edges.sort());
    expect(begun.some((name) => name.includes("-esx-"))).to.equal(false);
    expect(await plan()).to.deep.equal(before);

    const { id: again } = await service().startUpgrade(request("netvirt", edgeOnly));
    expect((await ended(again)).status).to.equal("SKIPPED");
    expect(await started()).to.deep.equal(begun);
  });

  it("names the host that fails, refuses a retry while it is in maintenance mode, then upgrades only that", async () => {
    const before = await plan();
    const node = "fra1-esx-02.mgmt.example.com";
    await service().fault({ kind: "NSX_NODE_FAILS", node, times: 1, message: "the VIBs could not be installed" });
    const input = {
      netvirtHostClusterUpgradeSpecs: [{ hostClusterId: groups.mgmt, hostParallelUpgrade: true }],
      netvirtEdgeClusterUpgradeSpecs: [],
    };
    const { id } = await service().startUpgrade(request("netvirt", { netvirtUpgradeUserInputSpecs: [input] }));
    const failed = await ended(id);
    expect([failed.status, failed.isRetryable]).to.deep.equal(["Failed", true]);
    expect(failed.errors?.[0]?.errorCode).to.equal("NETVIRT_UPGRADE_FAILED");
    expect(failed.errors?.[0]?.message).to.contain(node).and.to.contain("the VIBs could not be installed");
    expect(failed.errors?.[0]?.remediationMessage).to.contain("maintenance mode");
    const hostOf = (task: Task) => partsOf(task, "NETVIRT_NODE_UPGRADE").find(({ name }) => name === node);
    expect(hostOf(failed)?.status).to.equal("FAILED");
    expect(await plan()).to.deep.equal(before);

    await service().signalUpgrade(id, "retry");
    const refused = await service().taskWhen(
      id,
      "has failed again",
      ({ status, errors = [] }) => status === "Failed" && errors.length > 1,
      60,
    );
    expect(refused.errors?.[1]?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(refused.errors?.[1]?.nestedErrors?.map(({ errorCode }) => errorCode)).to.deep.equal([
      "NETVIRT_NODE_IN_MAINTENANCE",
    ]);

    await fetch(`${service().simulatorUrl}/simulator/faults`, { method: "DELETE" });
    const begun = (await started()).length;
    await service().signalUpgrade(id, "retry");
    const done = await service().taskWhen(id, "is successful", ({ status }) => status === "Successful", 60);
    expect((await started()).slice(begun)).to.deep.equal([node]);
    expect([hostOf(done)?.status, done.resolutionStatus]).to.deep.equal(["SUCCESSFUL", "RESOLVED"]);
    expect(await plan()).to.deep.equal(before);
  });

  it("runs one of two requests that race for it, whichever clusters they name", async () => {
    const posts = await Promise.all(
      ["08", "21"].map((n) =>
        service().post<Task & ErrorBody>("/v1/upgrades", {
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
});

import { expect } from "chai";
import { activityQuery, requestQuery } from "../../../workflows/messages";
import { failedCheck, FakeActivities, Gate, hostFailure, passedCheck, upgraded } from "../../support/fake-activities";
import { eventually } from "../../support/eventually";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const by = { reason: "In repair.", requestedBy: "bob" };
const failedStatuses = "Failed / COMPLETED_WITH_FAILURE";

describe("An upgrade of which operators leave something out", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  /** Hosts that fail as long as they are in the set, as `resource/host`; those at a gate wait there. */
  const activities = (bad = new Set<string>(), gates: Readonly<Record<string, Gate>> = {}, hosts = 2) =>
    new FakeActivities(
      {
        remediateHost: async (input) => {
          const key = `${input.cluster.resourceId}/${input.host.host}`;
          await gates[key]?.pass();
          if (bad.has(key)) throw hostFailure(input);
          return upgraded(input);
        },
      },
      hosts,
    );
  const ask = async (upgrade: RunningUpgrade, request: "skip" | "retry", payload: object) => {
    const { accepted, reason } = await upgrade.ask(request, payload);
    return accepted ? "accepted" : reason?.errorCode;
  };
  const skip = (upgrade: RunningUpgrade, part: object) => ask(upgrade, "skip", { ...part, ...by });
  const parts = async (upgrade: RunningUpgrade) =>
    ((await upgrade.task()).subTasks ?? [])
      .filter(({ type }) => type === "HOSTOS_UPGRADE")
      .flatMap(({ subTasks = [] }) => subTasks)
      .map(({ status, reasonCode }) => reasonCode ?? status);
  const hosts = async (upgrade: RunningUpgrade, n = 0) =>
    ((await upgrade.subTask(n)).subTasks ?? []).map(({ status, reasonCode }) => reasonCode ?? status);
  const remediated = ({ calls }: FakeActivities) =>
    calls.filter((call) => call.startsWith("remediate ")).map((call) => call.replace("remediate ", ""));
  const idOf = (resources: readonly { readonly resourceId: string }[], n: number) => resources[n]?.resourceId ?? "";

  it("releases the lock of a cluster that has not begun, upgrades the others and ends with a warning", async () => {
    const [first, second] = clusters(2);
    const later = { ...second!, scheduledTimestamp: new Date(Date.now() + 3_600_000).toISOString() };
    const gate = new Gate();
    const upgrade = await bench().upgrade(
      { resources: [first!, later] },
      activities(new Set(), { [`${first!.resourceId}/host-1`]: gate }),
    );
    await gate.reached;
    expect(await skip(upgrade, { resourceId: first!.resourceId })).to.equal("RESOURCE_IN_WORK");
    expect(await skip(upgrade, { resourceId: "other" })).to.equal("RESOURCE_NOT_IN_UPGRADE");
    expect(await ask(upgrade, "skip", { resourceId: later.resourceId })).to.equal("SIGNAL_PAYLOAD_INVALID");
    expect(await skip(upgrade, { resourceId: later.resourceId })).to.equal("accepted");
    expect(await skip(upgrade, { resourceId: later.resourceId }), "repeated").to.equal("accepted");
    expect(await upgrade.childEnd(1)).to.equal("CANCELLED");
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await parts(upgrade)).to.deep.equal(["SUCCESSFUL", "SKIPPED_BY_OPERATOR"]);
    const { status, errors = [] } = await upgrade.task();
    expect([status, errors.map(({ errorCode }) => errorCode)]).to.deep.equal([
      "COMPLETED_WITH_WARNING",
      ["SKIPPED_BY_OPERATOR"],
    ]);
    expect(errors[0]?.message).to.contain("bob").and.to.contain("In repair.");
    expect((await upgrade.memo()).upgrade.leftOut).to.deep.equal([
      { resourceId: later.resourceId, name: `${later.resourceId}-name`, reasonCode: "SKIPPED_BY_OPERATOR" },
    ]);
    const { entries } = await upgrade.handle.query(activityQuery);
    const skips = entries.filter(({ kind }) => kind === "SKIP");
    expect(skips.map(({ outcome, resourceId }) => [outcome, resourceId]).slice(0, 2)).to.deep.equal([
      ["REFUSED", first!.resourceId],
      ["REFUSED", "other"],
    ]);
    expect(skips.find(({ outcome }) => outcome === "ACCEPTED")).to.deep.include({
      actor: "bob",
      details: { reason: "In repair." },
      resourceId: later.resourceId,
    });
  });

  it("begins no host that was left out of a cluster in work, and says which hosts are", async () => {
    const [resource] = clusters(1);
    const { resourceId } = resource!;
    const gate = new Gate();
    const fake = activities(new Set(), { [`${resourceId}/host-1`]: gate }, 3);
    const upgrade = await bench().upgrade({ resources: [resource!] }, fake);
    await gate.reached;
    expect(await skip(upgrade, { resourceId, hostId: "host-1" })).to.equal("HOST_IN_WORK");
    expect(await skip(upgrade, { resourceId, hostId: "host-9" })).to.equal("HOST_UNKNOWN");
    expect(await skip(upgrade, { resourceId, hostId: "ESX-02.example.com" })).to.equal("accepted");
    expect(await skip(upgrade, { resourceId, hostId: "host-2" }), "repeated").to.equal("accepted");
    const outcome = await upgrade.update("skip", { resourceId, hostId: "host-2", ...by });
    expect(outcome.accepted).to.equal(true);
    expect(await hosts(upgrade)).to.deep.equal(["IN_PROGRESS", "SKIPPED_BY_OPERATOR", "PENDING"]);
    expect((await upgrade.upgrade()).leftOut).to.deep.equal([
      {
        ...{ resourceId, name: `${resourceId}-name`, reasonCode: "SKIPPED_BY_OPERATOR" },
        ...{ hostId: "host-2", hostName: "esx-02.example.com" },
      },
    ]);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediated(fake)).to.deep.equal([`${resourceId}/host-1`, `${resourceId}/host-3`]);
    expect(await hosts(upgrade)).to.deep.equal(["SUCCESSFUL", "SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
    expect(JSON.stringify((await upgrade.task()).errors)).to.contain("HOSTS_SKIPPED");
    expect((await upgrade.upgrade()).hosts).to.include({ total: 2, done: 2, leftOut: 1 });
  });

  it("leaves out a host that was named before its cluster began", async () => {
    const [resource] = clusters(1);
    const { resourceId } = resource!;
    const fake = activities();
    const upgrade = await bench().upgrade({ resources: [resource!], draft: true }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await skip(upgrade, { resourceId, hostId: "host-1" })).to.equal("accepted");
    expect(await skip(upgrade, { resourceId }), "the only cluster").to.equal("NO_CLUSTER_LEFT");
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediated(fake)).to.deep.equal([`${resourceId}/host-2`]);
  });

  it("takes a host that was left out while its cluster was paused, before the next one begins", async () => {
    const [resource] = clusters(1);
    const { resourceId } = resource!;
    const gate = new Gate();
    const fake = activities(new Set(), { [`${resourceId}/host-1`]: gate }, 3);
    const upgrade = await bench().upgrade({ resources: [resource!] }, fake);
    await gate.reached;
    await upgrade.ask("pause");
    gate.open();
    await eventually(
      () => hosts(upgrade),
      ([host]) => host === "SUCCESSFUL",
    );
    expect(await skip(upgrade, { resourceId, hostId: "host-2" })).to.equal("accepted");
    expect(await skip(upgrade, { resourceId, hostId: "host-1" })).to.equal("REQUEST_NOT_POSSIBLE");
    expect(await skip(upgrade, { resourceId, hostId: "host-3" })).to.equal("accepted");
    await upgrade.ask("resume");
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediated(fake)).to.deep.equal([`${resourceId}/host-1`]);
  });

  it("runs a draft's prechecks again without the cluster that failed them", async () => {
    const resources = clusters(2);
    const bad = idOf(resources, 0);
    const fake = new FakeActivities({
      runClusterPrechecks: ({ cluster }) =>
        Promise.resolve({ stages: cluster.resourceId === bad ? failedCheck() : passedCheck() }),
    });
    const upgrade = await bench().upgrade({ draft: true, resources }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect(await skip(upgrade, { resourceId: bad })).to.equal("accepted");
    expect((await upgrade.ask("prechecks")).accepted).to.equal(true);
    await upgrade.untilStatuses("Pending / DRAFT");
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await parts(upgrade)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
  });

  it("has a failed host left out by the next retry", async () => {
    const [resource] = clusters(1);
    const { resourceId } = resource!;
    const fake = activities(new Set([`${resourceId}/host-1`]));
    const upgrade = await bench().upgrade({ resources: [resource!] }, fake);
    await upgrade.untilStatuses(failedStatuses);
    expect(await skip(upgrade, { resourceId, hostId: "host-1" })).to.equal("accepted");
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediated(fake)).to.deep.equal([`${resourceId}/host-1`, `${resourceId}/host-2`]);
    expect(await hosts(upgrade)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
  });

  it("ends at a retry that has nothing left, with the hosts of the failed cluster as they were", async () => {
    const resources = clusters(2);
    const bad = idOf(resources, 0);
    const fake = activities(new Set([`${bad}/host-2`]));
    const upgrade = await bench().upgrade({ resources }, fake);
    await upgrade.untilStatuses(failedStatuses);
    expect(await skip(upgrade, { resourceId: bad })).to.equal("accepted");
    expect(await parts(upgrade)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
    const before = remediated(fake);
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(remediated(fake)).to.deep.equal(before);
    const product = (await upgrade.task()).subTasks?.find(({ type }) => type === "HOSTOS_UPGRADE");
    expect(product?.status).to.equal("SUCCESSFUL");
  });

  it("takes what has failed while the others are in work", async () => {
    const resources = clusters(2);
    const [bad, good] = [idOf(resources, 0), idOf(resources, 1)];
    const gate = new Gate();
    const fake = activities(new Set([`${bad}/host-1`]), { [`${good}/host-2`]: gate });
    const upgrade = await bench().upgrade({ resources }, fake);
    await gate.reached;
    await eventually(
      () => parts(upgrade),
      ([first]) => first === "FAILED",
    );
    expect(await skip(upgrade, { resourceId: bad })).to.equal("accepted");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await parts(upgrade)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
  });

  it("retries the named cluster alone, and the others later", async () => {
    const resources = clusters(3);
    const [one, two, three] = resources.map(({ resourceId }) => resourceId) as [string, string, string];
    const bad = new Set([`${one}/host-1`, `${two}/host-1`]);
    const fake = activities(bad);
    const upgrade = await bench().upgrade({ resources }, fake);
    await upgrade.untilStatuses(failedStatuses);
    expect(await ask(upgrade, "retry", { resourceIds: [three] })).to.equal("REQUEST_NOT_POSSIBLE");
    expect(await ask(upgrade, "retry", { resourceIds: ["other"] })).to.equal("RESOURCE_NOT_IN_UPGRADE");
    expect(await ask(upgrade, "retry", { resourceIds: [one], skipResources: [one] })).to.equal("RESOURCE_DUPLICATE");
    bad.clear();
    expect(await ask(upgrade, "retry", { resourceIds: [one] })).to.equal("accepted");
    await eventually(
      () => parts(upgrade),
      ([first]) => first === "SUCCESSFUL",
    );
    await upgrade.untilStatuses(failedStatuses);
    expect(await parts(upgrade)).to.deep.equal(["SUCCESSFUL", "FAILED", "SUCCESSFUL"]);
    const { errors = [], isRetryable } = await upgrade.task();
    expect([errors.at(-1)?.errorCode, errors.at(-1)?.context?.["resourceId"], isRetryable]).to.deep.equal([
      "RESOURCE_NOT_RETRIED",
      two,
      true,
    ]);
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await parts(upgrade)).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "SUCCESSFUL"]);
  });

  it("retries without the clusters and hosts that the retry leaves out", async () => {
    const resources = clusters(2);
    const [one, two] = resources.map(({ resourceId }) => resourceId) as [string, string];
    const fake = activities(new Set([`${one}/host-1`, `${two}/host-1`]));
    const upgrade = await bench().upgrade({ resources }, fake);
    await upgrade.untilStatuses(failedStatuses);
    const scope = { skipResources: [one], skipHosts: [{ resourceId: two, hostId: "host-1" }], ...by };
    expect(await ask(upgrade, "retry", scope)).to.equal("accepted");
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect(await parts(upgrade)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
    expect(await hosts(upgrade, 1)).to.deep.equal(["SKIPPED_BY_OPERATOR", "SUCCESSFUL"]);
    const { entries } = await upgrade.handle.query(activityQuery);
    expect(
      entries.filter(({ kind }) => kind === "SKIP").map(({ resourceId, hostId }) => [resourceId, hostId]),
    ).to.deep.equal([
      [one, undefined],
      [two, "host-1"],
    ]);
  });

  it("upgrades a cluster after all that was left out, where a retry names it", async () => {
    const resources = clusters(2);
    const [one, two] = resources.map(({ resourceId }) => resourceId) as [string, string];
    const bad = new Set([`${one}/host-1`]);
    const upgrade = await bench().upgrade({ resources }, activities(bad));
    await upgrade.untilStatuses(failedStatuses);
    expect(await skip(upgrade, { resourceId: one })).to.equal("accepted");
    expect(await skip(upgrade, { resourceId: two })).to.equal("REQUEST_NOT_POSSIBLE");
    bad.clear();
    expect(await ask(upgrade, "retry", { resourceIds: [one] })).to.equal("accepted");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.upgrade()).leftOut).to.equal(undefined);
  });

  it("keeps what was left out when its worker is gone in between", async () => {
    const [resource] = clusters(1);
    const { resourceId } = resource!;
    const gate = new Gate();
    const fake = activities(new Set(), { [`${resourceId}/host-1`]: gate }, 3);
    const upgrade = await bench().upgrade({ resources: [resource!] }, fake);
    await gate.reached;
    await bench().stopWorker();
    await upgrade.handle.signal("skip", { resourceId, hostId: "host-3", ...by, requestId: "while-away" });
    await bench().startWorker();
    // The other worker takes up its host again, and no other one before the gate opens.
    const { accepted } = await eventually(
      () => upgrade.handle.query(requestQuery, "while-away"),
      (outcome) => outcome !== undefined,
      40_000,
    ).then((outcome) => outcome ?? { accepted: false });
    expect(accepted).to.equal(true);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
    expect((await hosts(upgrade)).at(-1)).to.equal("SKIPPED_BY_OPERATOR");
  });
});

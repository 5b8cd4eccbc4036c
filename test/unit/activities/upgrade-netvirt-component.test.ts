import { CancelledFailure } from "@temporalio/common";
import { expect } from "chai";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { UpgradeNetvirtComponentInput } from "../../../activities/contract";
import type { NetvirtComponentType } from "../../../src/domain/task/netvirt-upgrade";
import { defaultActivityLimits } from "../../support/default-limits";
import { ManualClock } from "../../support/manual-clock";
import { failureOf, groups, type SimulatedNetvirt, simulateNetvirt, start, targetVersion } from "./simulated-netvirt";

describe("upgradeNetvirtComponent", function () {
  this.timeout(20_000);
  let netvirt: SimulatedNetvirt;
  beforeEach(async () => {
    netvirt = await simulateNetvirt();
  });
  afterEach(() => netvirt.close());

  const inputOf = (
    component: NetvirtComponentType,
    over: Partial<UpgradeNetvirtComponentInput> = {},
  ): UpgradeNetvirtComponentInput => ({
    ...netvirt.target,
    component,
    attempts: { maximumAttempts: 2, retryDelay: 0 },
    ...over,
  });
  const upgrade = (input: UpgradeNetvirtComponentInput, limits?: Partial<ActivityLimits>) => {
    const activities = netvirt.activities(limits);
    return () => activities.upgradeNetvirtComponent(input);
  };
  const run = (input: UpgradeNetvirtComponentInput, info = {}, limits?: Partial<ActivityLimits>) =>
    start(upgrade(input, limits), info).end;
  const steps = async (step: string) => (await netvirt.ledger()).filter((entry) => entry.step === step);
  const setGroup = async (id: string, change: object) => {
    const path = `/nsx/nsx-01/api/v1/upgrade/upgrade-unit-groups/${id}`;
    const { body } = await netvirt.call("GET", path);
    const { status } = await netvirt.call("PUT", path, { ...(body as object), ...change });
    expect(status).to.equal(200);
  };
  const statusOf = async (type: NetvirtComponentType) =>
    (await netvirt.manager()).components.find((component) => component.type === type)?.status;

  it("upgrades every node, tells how far each is, and waits until the overall status has caught up", async () => {
    await netvirt.hostSeconds(0.4);
    await netvirt.fault({ kind: "NSX_STATUS_LAGS", times: 1, seconds: 0.2 });
    const { result, error, heartbeats } = await run(inputOf("EDGE"));
    expect(error).to.equal(undefined);
    expect(result).to.deep.equal({ component: "EDGE", outcome: "UPGRADED" });
    const { groups: all } = await netvirt.manager();
    const edges = all.filter(({ type }) => type === "EDGE").flatMap(({ units }) => units);
    expect(edges.map(({ version }) => version)).to.deep.equal(Array(4).fill(targetVersion));
    expect(heartbeats.some(({ nodes }) => nodes.some(({ status }) => status === "IN_PROGRESS"))).to.equal(true);
    expect(heartbeats.some(({ activity }) => /overall status/.test(activity))).to.equal(true);
    expect(heartbeats.at(-1)?.nodes.map(({ status }) => status)).to.deep.equal(Array(4).fill("SUCCESS"));
    expect(await steps("NSX_UPGRADE_REQUESTED")).to.have.length(1);
  });

  it("takes 503 and 500 while the managers restart, and the code for still in progress, as progress", async () => {
    await netvirt.close();
    netvirt = await simulateNetvirt({ managers: 1 });
    await netvirt.hostSeconds(3);
    await netvirt.fault({ kind: "NSX_STILL_IN_PROGRESS", times: 3 });
    const { result, error, heartbeats } = await run(inputOf("MP"));
    expect(error).to.equal(undefined);
    expect(result?.outcome).to.equal("UPGRADED");
    const waits = heartbeats.map(({ activity }) => activity).filter((activity) => activity.startsWith("Waiting: "));
    expect(waits.some((wait) => wait.includes("30023"))).to.equal(true);
    expect(waits.some((wait) => wait.includes("503"))).to.equal(true);
    expect(waits.some((wait) => wait.includes("500 (error 99)"))).to.equal(true);
    expect((await netvirt.manager()).version).to.equal(targetVersion);
  });

  it("takes PAUSED as success where every enabled node is upgraded and the other groups are disabled", async () => {
    await setGroup(groups.hosts2, { enabled: false });
    const { result } = await run(inputOf("HOST"));
    expect(result?.outcome).to.equal("UPGRADED");
    expect(await statusOf("HOST")).to.equal("PAUSED");
    const touched = (await steps("NSX_NODE_STARTED")).map(({ host }) => host);
    expect(touched).to.deep.equal(["esx-01.example.com", "esx-02.example.com"]);
  });

  it("goes on where the coordinator pauses after each node", async () => {
    await setGroup(groups.hosts1, { pause_after_each_upgrade_unit: true });
    expect((await run(inputOf("HOST"))).result?.outcome).to.equal("UPGRADED");
    expect((await steps("NSX_UPGRADE_REQUESTED")).length).to.be.greaterThan(1);
  });

  it("does nothing where the component is upgraded already, and starts one without nodes", async () => {
    await run(inputOf("EDGE"));
    const again = await run(inputOf("EDGE"));
    expect(again.result?.outcome).to.equal("ALREADY_AT_TARGET");
    expect(await steps("NSX_UPGRADE_REQUESTED")).to.have.length(1);
    for (const component of ["MP", "HOST", "FINALIZE_UPGRADE"] as const) {
      expect((await run(inputOf(component))).result?.outcome, component).to.equal("UPGRADED");
    }
    expect(await statusOf("FINALIZE_UPGRADE")).to.equal("SUCCESS");
  });

  it("uses start and continue for an older coordinator, and upgrade for one of 9.1", async () => {
    const requestsTo = async (manager: SimulatedNetvirt, target: string) => {
      await manager.fault({ kind: "NSX_NODE_FAILS", node: "edge-01.example.com", times: 1 });
      const input = { ...inputOf("EDGE"), targetVersion: target };
      const activities = manager.activities();
      const first = await start(() => activities.upgradeNetvirtComponent(input)).end;
      const info = { attempt: 2, heartbeatDetails: first.heartbeats.at(-1) };
      const second = await start(() => activities.upgradeNetvirtComponent(input), info).end;
      expect(second.result?.outcome).to.equal("UPGRADED");
      const ledger = await manager.ledger();
      return ledger.filter(({ step }) => step === "NSX_UPGRADE_REQUESTED").map(({ detail }) => detail);
    };
    expect(await requestsTo(netvirt, targetVersion)).to.deep.equal(["EDGE start", "EDGE continue"]);
    const newer = await simulateNetvirt({ targetVersion: "9.1.0.0.25000000" });
    try {
      expect(await requestsTo(newer, "9.1.0.0.25000000")).to.deep.equal(["EDGE upgrade", "EDGE upgrade"]);
    } finally {
      await newer.close();
    }
  });

  describe("a node that fails", () => {
    it("fails the attempt with its name and reason, and the next attempt does not take the passed over node for upgraded", async () => {
      await netvirt.fault({ kind: "NSX_NODE_FAILS", node: "esx-02.example.com", times: 1, message: "no space left" });
      const first = await run(inputOf("HOST"));
      const failed = failureOf(first);
      expect(failed).to.include({ type: "NETVIRT_UPGRADE_FAILED", nonRetryable: false });
      expect(failed.told.error.message).to.include("esx-02.example.com").and.include("no space left");
      expect(failed.told.error.remediationMessage).to.include("maintenance mode");
      expect(failed.told.progress?.reportedFailures).to.equal(1);
      const shown = first.heartbeats.at(-1)?.nodes.map(({ status, error }) => [status, error]);
      expect(shown).to.deep.equal([
        ["FAILED", "no space left"],
        ["SUCCESS", undefined],
        ["SUCCESS", undefined],
        ["SUCCESS", undefined],
      ]);

      const heartbeatDetails = first.heartbeats.at(-1);
      const second = failureOf(await run(inputOf("HOST"), { attempt: 2, heartbeatDetails }));
      expect(second).to.include({ type: "NETVIRT_NODES_NOT_UPGRADED", nonRetryable: true });
      expect(second.told.error.message).to.include("esx-02.example.com");
      expect(second.told.progress?.reportedFailures).to.equal(2);
      expect(await statusOf("HOST")).to.equal("SUCCESS");
    });

    it("is upgraded by the next attempt where somebody has taken it out of maintenance mode", async () => {
      const { id } = await netvirt.fault({ kind: "NSX_NODE_FAILS", node: "esx-02.example.com", times: 1 });
      const first = await run(inputOf("HOST"));
      await netvirt.repair(id);
      const { result } = await run(inputOf("HOST"), { attempt: 2, heartbeatDetails: first.heartbeats.at(-1) });
      expect(result?.outcome).to.equal("UPGRADED");
      const started = (await steps("NSX_NODE_STARTED")).map(({ host }) => host);
      expect(started.filter((host) => host === "esx-01.example.com")).to.have.length(1);
    });
  });

  it("fails where somebody has paused what was asked for, before anything of it was done", async () => {
    await setGroup(groups.hosts1, { enabled: false });
    await run(inputOf("HOST"));
    await setGroup(groups.hosts1, { enabled: true });
    const nodes = { component: "HOST" as const, reportedFailures: 0, activity: "", percent: 50, nodes: [] };
    const asked = { requestedAt: "2026-01-01T00:00:00.000Z", requestedFrom: "PAUSED 2/0/4", accepted: true };
    const failed = failureOf(await run(inputOf("HOST", { resume: { ...nodes, ...asked } })));
    expect(failed.type).to.equal("NETVIRT_UPGRADE_PAUSED");
    expect(failed.told.error.message).to.include("esx-01.example.com").and.include("2 of 4 nodes are upgraded");
  });

  it("pauses and fails where nothing gets on", async () => {
    await setGroup(groups.hosts1, { enabled: false });
    await netvirt.fault({ kind: "NSX_NODE_HANGS", node: "other-01.example.com", times: 1 });
    const running = start(upgrade(inputOf("HOST"), { stall: 150, operationBusy: 100 }));
    const stalled = failureOf(await running.end);
    expect(stalled.type).to.equal("NETVIRT_UPGRADE_STALLED");
    expect(stalled.told.error.message).to.include("other-01.example.com");
    expect(await steps("NSX_PAUSE_REQUESTED")).to.not.be.empty;
  });

  it("is asked for again, more often than it may be refused, while the manager's services are away", async () => {
    const away = { method: "POST", path: "action=start", status: 503, contentType: "application/json" };
    const body = JSON.stringify({ error_code: 98, error_message: "The service is starting." });
    await netvirt.fault({ kind: "ANSWERS", ...away, body, times: 8 });
    const { result } = await run(inputOf("EDGE"));
    expect(result?.outcome).to.equal("UPGRADED");
    expect(await netvirt.timesLeft("ANSWERS")).to.equal(0);
  });

  it("is refused after a few slow tries where the account is, and uses up no attempt", async () => {
    await netvirt.fault({ kind: "NSX_ACCOUNT_REFUSED", times: 100 });
    const ended = failureOf(
      await run(inputOf("EDGE"), {}, { clock: new ManualClock(), poll: defaultActivityLimits.poll }),
    );
    expect(ended).to.include({ type: "AUTHORIZATION", nonRetryable: true });
    expect(await netvirt.timesLeft("NSX_ACCOUNT_REFUSED")).to.be.within(80, 97);
    expect(ended.told.error.remediationMessage).to.match(/inventory/);
    expect(ended.told.progress?.reportedFailures).to.equal(0);
  });

  describe("an Activity that was lost", () => {
    it("attaches to what runs and starts nothing twice", async () => {
      await netvirt.hostSeconds(0.5);
      const first = start(upgrade(inputOf("EDGE")));
      const known = await first.until(({ nodes }) => nodes.some(({ status }) => status === "IN_PROGRESS"));
      first.environment.cancel("WORKER_SHUTDOWN");
      const handedOver = failureOf(await first.end);
      expect(handedOver.type).to.equal("WORKER_SHUTDOWN");
      expect(handedOver.told.progress).to.include({ reportedFailures: 0, accepted: true });
      const { result } = await run(inputOf("EDGE", { resume: known }));
      expect(result?.outcome).to.equal("UPGRADED");
      expect(await steps("NSX_UPGRADE_REQUESTED")).to.have.length(1);
    });

    it("finds out whether a request without an answer was received, and asks again where it was not", async () => {
      await netvirt.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "/plan", times: 1 });
      expect((await run(inputOf("EDGE"))).result?.outcome).to.equal("UPGRADED");
      await netvirt.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "/plan", times: 1, after: true });
      expect((await run(inputOf("HOST"))).result?.outcome).to.equal("UPGRADED");
      const requested = (await steps("NSX_UPGRADE_REQUESTED")).map(({ detail }) => detail);
      expect(requested).to.deep.equal(["EDGE start", "HOST start"]);
    });
  });

  it("is asked for again as soon as ever where its request was lost and the time of day is set back", async () => {
    let step = 0;
    const { clock } = netvirt;
    const stepped = {
      now: clock.now,
      timeOfDay: () => clock.timeOfDay() + step,
      sleep: (...wait: Parameters<ManualClock["sleep"]>) => clock.sleep(...wait),
    };
    await netvirt.fault({ kind: "CONNECTION_DROPPED", method: "POST", path: "/plan", times: 1 });
    const running = start(upgrade(inputOf("EDGE"), { clock: stepped }));
    await running.until(({ activity }) => activity === "Waiting until the coordinator starts.");
    step = -5 * 3_600_000;
    const asked = clock.now();
    expect((await running.end).result?.outcome).to.equal("UPGRADED");
    expect(clock.now() - asked).to.be.below(60_000);
  });

  describe("a cancellation", () => {
    it("pauses the coordinator, lets nodes in work finish, and a later run goes on with the rest", async () => {
      await netvirt.hostSeconds(0.4);
      const running = start(upgrade(inputOf("HOST")));
      await running.until(({ nodes }) => nodes.some(({ status }) => status === "IN_PROGRESS"));
      running.environment.cancel();
      expect((await running.end).error).to.be.instanceOf(CancelledFailure);
      expect(await statusOf("HOST")).to.equal("PAUSED");
      const begun = await steps("NSX_NODE_STARTED");
      expect(await steps("NSX_NODE_UPGRADED")).to.have.length(begun.length);
      await netvirt.hostSeconds(0.05);
      expect((await run(inputOf("HOST"))).result?.outcome).to.equal("UPGRADED");
      const started = (await steps("NSX_NODE_STARTED")).map(({ host }) => host);
      expect(started).to.deep.equal([...new Set(started)]);
    });

    it("starts nothing where nothing runs, and says so as a stop does", async () => {
      const stopped = failureOf(await run(inputOf("EDGE", { stop: true })));
      expect(stopped).to.include({ type: "CANCELLED", nonRetryable: true });
      expect(await steps("NSX_UPGRADE_REQUESTED")).to.deep.equal([]);
    });

    it("gives the result where the component is done all the same", async () => {
      await run(inputOf("EDGE"));
      expect((await run(inputOf("EDGE", { stop: true }))).result?.component).to.equal("EDGE");
    });
  });
});

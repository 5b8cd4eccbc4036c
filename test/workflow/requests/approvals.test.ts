import { expect } from "chai";
import { activityQuery } from "../../../workflows/messages";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, upgraded } from "../../support/fake-activities";
import { dataOf, untilAllIsTold } from "../../support/notifier";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

describe("An upgrade that needs approvals", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  const untilWaits = (upgrade: RunningUpgrade, message: string) =>
    eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor }) => phase === "ACTION_REQUIRED" && waitingFor?.message === message,
    );
  const untilPhase = (upgrade: RunningUpgrade, phase: string) =>
    eventually(
      () => upgrade.upgrade(),
      (now) => now.phase === phase,
    );
  const approve = async (upgrade: RunningUpgrade, requestedBy?: string, comment?: string) => {
    const said = { ...(requestedBy !== undefined && { requestedBy }), ...(comment !== undefined && { comment }) };
    const { accepted, reason } = await upgrade.ask("approve", said);
    return accepted ? "accepted" : reason?.errorCode;
  };
  const kinds = async (upgrade: RunningUpgrade) =>
    (await upgrade.handle.query(activityQuery)).entries.map(({ kind, outcome }) => `${kind} ${outcome ?? ""}`.trim());

  it("begins nothing before it has all of them, from persons who have not asked for it", async () => {
    const fake = new FakeActivities();
    const upgrade = await bench().upgrade({ approvals: 2, notifications: [{ id: "chat", retryHours: 1 }] }, fake);
    const waiting = await untilWaits(upgrade, "It waits for 2 approvals of 2.");
    expect(waiting).to.deep.include({
      status: "SCHEDULED",
      approvals: { required: 2, given: [], askedBy: ["a test"] },
    });
    expect(waiting.waitingFor?.code).to.equal("APPROVAL");
    expect(await approve(upgrade)).to.equal("APPROVER_UNKNOWN");
    expect(await approve(upgrade, "A Test"), "who has started it").to.equal("APPROVAL_BY_REQUESTER");
    expect(await approve(upgrade, "bob", "Agreed")).to.equal("accepted");
    expect(await approve(upgrade, "Bob")).to.equal("REQUEST_NOT_POSSIBLE");
    const { upgrade: stored } = await upgrade.memo();
    expect(stored.waitingFor?.message).to.equal("It waits for 1 approval of 2.");
    expect(stored.approvals?.given.map(({ by, comment }) => [by, comment])).to.deep.equal([["bob", "Agreed"]]);
    expect(stored).not.to.have.property("startedAt");
    expect(await approve(upgrade, "carol")).to.equal("accepted");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await kinds(upgrade)).to.deep.equal([
      "CREATE ACCEPTED",
      "APPROVE REFUSED",
      "APPROVE REFUSED",
      "APPROVE ACCEPTED",
      "APPROVE REFUSED",
      "APPROVE ACCEPTED",
      "STARTED",
      "RESOURCE_SUCCEEDED",
      "SUCCEEDED",
    ]);
    await untilAllIsTold(bench(), upgrade);
    expect(dataOf(fake, "upgrade.approval.wanted").map(({ wanted }) => wanted)).to.deep.equal(["APPROVAL"]);
  });

  it("needs them again for another time, and who gives that time has asked for it too", async () => {
    const [resource] = clusters(1);
    if (!resource) throw new Error("A cluster is wanted");
    const upgrade = await bench().upgrade({
      approvals: 1,
      resources: [{ ...resource, scheduledTimestamp: inHours(24) }],
    });
    await untilWaits(upgrade, "It waits for 1 approval of 1.");
    expect(await approve(upgrade, "bob")).to.equal("accepted");
    await untilPhase(upgrade, "SCHEDULED");
    expect((await upgrade.ask("commit", { scheduledTimestamp: inHours(48), requestedBy: "carol" })).accepted).to.equal(
      true,
    );
    const again = await untilWaits(upgrade, "It waits for 1 approval of 1.");
    expect(again.approvals).to.deep.equal({ required: 1, given: [], askedBy: ["a test", "carol"] });
    expect(await approve(upgrade, "carol")).to.equal("APPROVAL_BY_REQUESTER");
    expect(await approve(upgrade, "bob")).to.equal("accepted");
    await untilPhase(upgrade, "SCHEDULED");
    expect((await upgrade.ask("commit", { upgradeNow: true, requestedBy: "carol" })).accepted).to.equal(true);
    await untilWaits(upgrade, "It waits for 1 approval of 1.");
    expect(await approve(upgrade, "dave")).to.equal("accepted");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await kinds(upgrade)).to.include("APPROVALS_DROPPED");
  });

  it("needs them again for an override of maintenance windows while nothing has begun, and keeps them later", async () => {
    const override = { maintenanceWindow: "IGNORE", reason: "Zero-day", requestedBy: "carol" } as const;
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) });
    const domain = "closed-for-approvals";
    bench().closedDomains.add(domain);
    const upgrade = await bench().upgrade({ approvals: 1, domain }, fake);
    await untilWaits(upgrade, "It waits for 1 approval of 1.");
    expect(await approve(upgrade, "bob")).to.equal("accepted");
    await eventually(
      () => upgrade.upgrade(),
      ({ waitingFor }) => waitingFor?.code === "WINDOW",
    );
    expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
    const again = await untilWaits(upgrade, "It waits for 1 approval of 1.");
    expect(again.approvals?.askedBy).to.deep.equal(["a test", "carol"]);
    expect(fake.changes).to.deep.equal([]);
    expect(await approve(upgrade, "bob")).to.equal("accepted");
    await gate.reached;
    const later = { ...override, requestedBy: "bob" };
    expect((await upgrade.ask("commit", later)).accepted).to.equal(true);
    const { approvals } = await upgrade.upgrade();
    expect(approvals?.given.map(({ by }) => by)).to.deep.equal(["bob"]);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    bench().closedDomains.delete(domain);
  });

  it("takes them of a draft after its prechecks, and keeps them at a commit without a time", async () => {
    const upgrade = await bench().upgrade({ draft: true, approvals: 1 });
    await untilPhase(upgrade, "DRAFT_READY");
    expect(await approve(upgrade, "bob")).to.equal("accepted");
    await upgrade.ask("commit", { requestedBy: "alice" });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect((await upgrade.memo()).upgrade.approvals?.given.map(({ by }) => by)).to.deep.equal(["bob"]);
  });

  it("ends as cancelled with the reason when somebody rejects it, and has touched nothing", async () => {
    for (const draft of [true, false]) {
      const fake = new FakeActivities();
      const upgrade = await bench().upgrade({ draft, approvals: 1 }, fake);
      await untilPhase(upgrade, draft ? "DRAFT_READY" : "ACTION_REQUIRED");
      expect((await upgrade.ask("reject", { requestedBy: "bob" })).reason?.errorCode).to.equal(
        "SIGNAL_PAYLOAD_INVALID",
      );
      expect((await upgrade.ask("reject", { requestedBy: "bob", comment: "Not this week" })).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("CANCELLED");
      const { task, upgrade: stored } = await upgrade.memo();
      expect([task.status, stored.phase]).to.deep.equal(["Cancelled", "CANCELLED"]);
      expect(task.errors?.map(({ errorCode, message }) => [errorCode, message])).to.deep.equal([
        ["UPGRADE_REJECTED", "bob rejected the upgrade: Not this week"],
      ]);
      expect(fake.changes).to.deep.equal([]);
    }
  });

  it("refuses approvals where none is needed", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await untilPhase(upgrade, "DRAFT_READY");
    expect(await approve(upgrade, "bob")).to.equal("REQUEST_NOT_POSSIBLE");
    expect(await upgrade.upgrade()).not.to.have.property("approvals");
    await upgrade.handle.cancel();
    await upgrade.end();
  });
});

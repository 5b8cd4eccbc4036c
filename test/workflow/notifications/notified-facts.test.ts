import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { failedCheck, FakeActivities, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import { dataOf, notifierOf, toldTo } from "../../support/notifier";
import { useBench } from "../../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };

describe("Notifications of an upgrade carry", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("a link to the console, which the Web UI has too, its resources, and who has created it", async () => {
    const fake = new FakeActivities();
    const publicUrl = "https://upgrades.example.com";
    const upgrade = await bench().upgrade({ draft: true, publicUrl, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    const [ready] = await eventually(
      async () => dataOf(fake, "upgrade.draft.ready"),
      ({ length }) => length === 1,
    );
    const link = `${publicUrl}/#/upgrades/${upgrade.id}`;
    expect(ready).to.include({ link, createdBy: "a test", wanted: "COMMIT", resourceCount: 1 });
    expect(ready?.resources?.map(({ resourceId }) => resourceId)).to.deep.equal([upgrade.resourceId()]);
    expect(ready).to.not.have.property("requestedBy");
    expect(await upgrade.currentDetails()).to.contain(`[Open in the console](${link})`);
  });

  it("who has committed, paused, resumed and cancelled it", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 2);
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.ask("commit", { requestedBy: "carol" });
    await gate.reached;
    await upgrade.ask("pause", { requestedBy: "bob" });
    await upgrade.ask("resume");
    await upgrade.handle.cancel();
    gate.open();
    await upgrade.end();
    await notifierOf(bench(), upgrade).result();
    const by = (type: Parameters<typeof dataOf>[1]) => dataOf(fake, type).map(({ requestedBy }) => requestedBy);
    expect(by("upgrade.started")).to.deep.equal(["carol"]);
    expect(by("upgrade.paused")).to.deep.equal(["bob"]);
    expect(dataOf(fake, "upgrade.paused")[0]?.wanted).to.equal("RESUME");
    // Sent by somebody who does not say so, as by the Temporal CLI: nobody else's name stands there.
    expect(by("upgrade.resumed")).to.deep.equal([undefined]);
    expect(by("upgrade.cancel.requested")).to.deep.equal([undefined]);
    expect(toldTo(fake).slice(-2)).to.deep.equal(["upgrade.cancel.requested", "upgrade.cancelled"]);
  });

  it("what is wanted and until when, where it has failed, and who has decided", async () => {
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        throw hostFailure(input);
      },
    });
    const upgrade = await bench().upgrade({ notifications: [chat], resolutionDays: 2 }, fake);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    await upgrade.ask("resolve", { requestedBy: "dora" });
    await upgrade.end();
    await notifierOf(bench(), upgrade).result();
    const [failed] = dataOf(fake, "upgrade.failed");
    expect(failed?.wanted).to.equal("RETRY_OR_RESOLVE");
    const inTwoDays = Date.now() + 2 * 24 * 3_600_000;
    expect(Date.parse(failed?.decideBy ?? "")).to.be.within(inTwoDays - 60_000, inTwoDays);
    expect(dataOf(fake, "upgrade.resolved")[0]).to.include({ requestedBy: "dora" });
  });

  it("that prechecks of a draft are wanted again, and not those of an upgrade that has failed by them", async () => {
    const failing = () => new FakeActivities({ runClusterPrechecks: async () => ({ stages: failedCheck() }) });
    const wanted = async (draft: boolean) => {
      const fake = failing();
      await bench().upgrade({ draft, notifications: [chat] }, fake);
      const [failed] = await eventually(
        async () => dataOf(fake, "upgrade.prechecks.failed"),
        ({ length }) => length === 1,
      );
      return failed?.wanted;
    };
    expect(await wanted(true)).to.equal("PRECHECKS");
    expect(await wanted(false)).to.equal(undefined);
  });

  it("the time that an upgrade was given, and each other one, with who has given it", async () => {
    const fake = new FakeActivities();
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const [first, second] = [at(1), at(2)];
    const upgrade = await bench().upgrade({ draft: true, notifications: [chat] }, fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    await upgrade.ask("commit", { scheduledTimestamp: first, requestedBy: "carol" });
    await eventually(
      async () => dataOf(fake, "upgrade.scheduled"),
      ({ length }) => length === 1,
    );
    await upgrade.ask("commit", { scheduledTimestamp: second, requestedBy: "erin" });
    await upgrade.ask("commit", { scheduledTimestamp: second, requestedBy: "frank" });
    await upgrade.ask("commit", { upgradeNow: true, requestedBy: "gina" });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    await notifierOf(bench(), upgrade).result();
    expect(
      dataOf(fake, "upgrade.scheduled").map(({ beginsAt, requestedBy, status }) => ({ beginsAt, requestedBy, status })),
    ).to.deep.equal([
      { beginsAt: first, requestedBy: "carol", status: "SCHEDULED" },
      { beginsAt: second, requestedBy: "erin", status: "SCHEDULED" },
    ]);
    expect(dataOf(fake, "upgrade.started")[0]).to.include({ requestedBy: "gina" });
    expect(dataOf(fake, "upgrade.started")[0]).to.not.have.property("beginsAt");
  });
});

import { expect } from "chai";
import { isLeft } from "fp-ts/Either";
import type { MaintenancePlace } from "../../../src/domain/opening";
import { maintenanceCalendar } from "../../../src/inventory/maintenance-calendar";
import { activityQuery } from "../../../workflows/messages";
import { useClosablePlatform } from "../../support/closable-platform";
import { eventually } from "../../support/eventually";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

describe("A maintenance window", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  const { platform, start, freeze, thaw, steps, untilSteps } = useClosablePlatform(bench);

  async function untilWaiting(upgrade: RunningUpgrade, code: "WINDOW" | "FROZEN") {
    const { waitingFor } = await eventually(
      () => upgrade.upgrade(),
      ({ phase, waitingFor: why }) => phase === "WAITING" && why?.code === code,
    );
    return waitingFor;
  }

  it("of five minutes begins the hosts that fit, none after its end, and the others the next night", async () => {
    let time = Date.parse("2026-12-01T21:59:00Z");
    const nights = { timeZone: "Etc/UTC", recurrence: "FREQ=DAILY", start: "22:00", duration: "PT5M" };
    const calendar = maintenanceCalendar([{ id: "nights", ...nights }], []);
    if (isLeft(calendar)) throw new Error(calendar.left.join(" "));
    const inNights = (place: MaintenancePlace) => ({ ...place, maintenanceWindow: "nights" });
    bench().calendars.set(platform().domain, (places) => calendar.right.at(places.map(inNights), time));
    await platform().hostSeconds(3);
    const upgrade = await start("HOSTOS");
    expect((await untilWaiting(upgrade, "WINDOW"))?.until).to.equal("2026-12-01T22:00:00.000Z");
    expect(await platform().steps()).to.deep.equal([]);

    time = Date.parse("2026-12-01T22:00:00Z");
    await untilSteps("APPLY_STARTED", 1);
    time = Date.parse("2026-12-01T22:04:59.999Z");
    await untilSteps("APPLY_STARTED", 2);
    time = Date.parse("2026-12-01T22:05:00Z");
    expect((await untilWaiting(upgrade, "WINDOW"))?.until).to.equal("2026-12-02T22:00:00.000Z");
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "SUCCESSFUL", "PENDING"]);
    expect(await steps("APPLY_REQUESTED")).to.equal(2);

    await platform().hostSeconds(0.2);
    time = Date.parse("2026-12-02T22:00:00Z");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await steps("APPLY_REQUESTED")).to.equal(3);
  });

  for (const [what, code] of [
    ["that closes", "WINDOW"],
    ["whose domain is frozen", "FROZEN"],
  ] as const)
    it(`${what} lets the component of NETVIRT in work end, and the next not begin`, async () => {
      await platform().hostSeconds(2);
      const upgrade = await start("NETVIRT");
      // The last node of the first component.
      await untilSteps("NSX_NODE_STARTED", 2);
      if (code === "WINDOW") bench().closedDomains.add(platform().domain);
      else await freeze();
      await platform().hostSeconds(0.2);
      await untilWaiting(upgrade, code);
      const { subTasks = [] } = await upgrade.subTask();
      expect(subTasks.map(({ status }) => status)).to.deep.equal(["SUCCESSFUL", "PENDING", "PENDING", "PENDING"]);
      expect(await steps("NSX_NODE_STARTED")).to.equal(2);
      bench().closedDomains.clear();
      await thaw();
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });

  describe("that an ADMIN has an upgrade ignore", () => {
    const override = { maintenanceWindow: "IGNORE", reason: "Zero-day", requestedBy: "root" } as const;
    const close = () => bench().closedDomains.add(platform().domain);

    async function expectOverridden(upgrade: RunningUpgrade): Promise<void> {
      for (const told of [await upgrade.task(), await upgrade.upgrade()]) {
        expect(told.maintenanceWindow).to.equal("IGNORE");
        expect(told.maintenanceOverride).to.include({ reason: "Zero-day", by: "root" });
      }
      const { entries } = await upgrade.handle.query(activityQuery);
      const { actor, details } = entries.find(({ kind }) => kind === "COMMIT") ?? {};
      const told = { maintenanceWindow: "IGNORE", reason: "Zero-day" };
      expect({ actor, details }).to.deep.equal({ actor: "root", details: told });
    }

    it("is waited for no more by one of which nothing has begun", async () => {
      close();
      const upgrade = await start("HOSTOS");
      await untilWaiting(upgrade, "WINDOW");
      expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      await expectOverridden(upgrade);
    });

    it("is waited for no more by a cluster in work, whatever closes later", async () => {
      await platform().hostSeconds(2);
      const upgrade = await start("HOSTOS");
      await untilSteps("APPLY_STARTED", 1);
      close();
      await untilWaiting(upgrade, "WINDOW");
      const memo = async () => (await upgrade.resourceMemo()).subTask.waitingFor?.code;
      expect(await memo()).to.equal("WINDOW");
      await platform().hostSeconds(0.2);
      expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      await expectOverridden(upgrade);
      expect(await memo()).to.equal(undefined);
    });

    it("is waited for no more by NETVIRT in work, of which an emergency stop keeps the rest", async () => {
      await platform().hostSeconds(2);
      const upgrade = await start("NETVIRT");
      await untilSteps("NSX_NODE_STARTED", 1);
      close();
      await untilWaiting(upgrade, "WINDOW");
      await freeze();
      await untilWaiting(upgrade, "FROZEN");
      const begun = await steps("NSX_NODE_STARTED");
      expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
      await eventually(
        () => upgrade.upgrade(),
        ({ maintenanceOverride }) => maintenanceOverride !== undefined,
      );
      await untilWaiting(upgrade, "FROZEN");
      expect(await steps("NSX_NODE_STARTED")).to.equal(begun);
      await platform().hostSeconds(0.2);
      await thaw();
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      await expectOverridden(upgrade);
    });

    it("keeps a scheduled upgrade no more from beginning at its time, which it keeps", async () => {
      close();
      const scheduledTimestamp = await bench().inTime(4_000);
      const upgrade = await start("HOSTOS", { spec: { scheduledTimestamp } });
      await upgrade.untilStatuses("Pending / SCHEDULED");
      expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      await expectOverridden(upgrade);
      const { startedAt = "" } = await upgrade.upgrade();
      expect(Date.parse(startedAt)).to.be.at.least(Date.parse(scheduledTimestamp));
    });

    it("says of no end any more for what is in work", async () => {
      bench().closings.set(platform().domain, Date.now() + 3_600_000);
      await platform().hostSeconds(3);
      const upgrade = await start("HOSTOS");
      await eventually(
        () => upgrade.upgrade(),
        ({ windowClosesAt }) => windowClosesAt !== undefined,
      );
      await upgrade.ask("commit", override);
      expect((await upgrade.upgrade()).windowClosesAt).to.equal(undefined);
      await platform().hostSeconds(0.2);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });

    it("leaves a paused upgrade paused, and one that an operator has paused goes on with its resumption", async () => {
      close();
      const upgrade = await start("HOSTOS");
      await untilWaiting(upgrade, "WINDOW");
      await upgrade.ask("pause");
      expect((await upgrade.ask("commit", override)).accepted).to.equal(true);
      expect((await upgrade.upgrade()).phase).to.equal("PAUSED");
      expect(await platform().steps()).to.deep.equal([]);
      await upgrade.ask("resume");
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
    });
  });
});

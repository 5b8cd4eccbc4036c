import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { FakeActivities, hostFailure } from "../../support/fake-activities";
import { dataOf, toldTo } from "../../support/notifier";
import { UpgradeBench, useBench } from "../../support/upgrade-bench";

const chat = { id: "chat", retryHours: 24 };
const day = 24 * 3600;

const failing = () =>
  new FakeActivities({
    remediateHost: async (input) => {
      throw hostFailure(input);
    },
  });

describe("The decision about a failed upgrade", function () {
  this.timeout(60_000);

  describe("while it is waited for", () => {
    const bench = useBench("DEV_SERVER");

    it("is asked for after a day, and only where somebody wants to know", async () => {
      const quiet = { id: "chat", retryHours: 1, events: ["upgrade.failed"] } as const;
      const wait = async (notifications: readonly (typeof chat | typeof quiet)[]) => {
        const upgrade = await bench().upgrade({ notifications, resolutionDays: 3 }, failing());
        await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
        const timer = (await upgrade.events()).findLast((event) => event.timerStartedEventAttributes);
        return Number(timer?.timerStartedEventAttributes?.startToFireTimeout?.seconds ?? 0);
      };
      expect(await wait([chat])).to.be.within(day - 60, day);
      expect(await wait([quiet])).to.be.within(3 * day - 60, 3 * day);
      expect(await wait([])).to.be.within(3 * day - 60, 3 * day);
    });
  });

  describe("that nobody takes", () => {
    // Of its own: the server asks no child to end with its parent, and the notifications of a test would stay.
    let bench: UpgradeBench;
    before(async () => {
      bench = await UpgradeBench.start("TIME_SKIPPING");
    });
    after(() => bench.stop());

    it("is asked for each day and four hours before it is given up, with the deadline and the errors", async () => {
      const fake = failing();
      const upgrade = await bench.upgrade({ notifications: [chat], resolutionDays: 3 }, fake);
      expect(await upgrade.end()).to.equal("FAILED");
      await eventually(
        async () => toldTo(fake),
        (told) => told.includes("upgrade.expired"),
      );
      expect(toldTo(fake).slice(-5)).to.deep.equal([
        "upgrade.failed",
        "upgrade.decision.due",
        "upgrade.decision.due",
        "upgrade.decision.due",
        "upgrade.expired",
      ]);
      const [failed] = dataOf(fake, "upgrade.failed");
      for (const due of dataOf(fake, "upgrade.decision.due")) {
        expect(due).to.include({ decideBy: failed?.decideBy, wanted: "RETRY_OR_RESOLVE" });
        expect(due.errors).to.deep.equal(failed?.errors);
      }
    });
  });
});

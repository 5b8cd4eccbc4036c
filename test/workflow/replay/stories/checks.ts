import type { CheckAnswer } from "../../../../src/domain/checks/own-check";
import { checkDecidedSignal } from "../../../../workflows/messages";
import { eventually } from "../../../support/eventually";
import { FakeActivities } from "../../../support/fake-activities";
import { clusters, sampleCheck } from "../../../support/sample-plan";
import { failed, hostCount, type Story } from "../story";

const passed: CheckAnswer = { verdict: "PASSED", text: "All is well." };
const failing: CheckAnswer = { verdict: "FAILED", text: "1 alert active: HostDown." };

/** Upgrades that ask checks of the inventory. */
export const checkStories: Readonly<Record<string, Story>> = {
  "checks-waited-for-accepted-and-decided-later": {
    ends: "COMPLETED",
    async tell(bench) {
      const asks: Record<string, string[]> = {};
      const fake = new FakeActivities(
        {
          askCheck: ({ check, askId }) => {
            const earlier = asks[check] ?? [];
            asks[check] = [...earlier, askId];
            if (check === "waited") return Promise.resolve(earlier.length === 0 ? failing : passed);
            return Promise.resolve(check === "board" ? { verdict: "LATER", text: "" } : failing);
          },
        },
        hostCount,
      );
      const checks = [
        sampleCheck("waited", { onFailure: "WAIT" }),
        sampleCheck("pausing", { onFailure: "PAUSE", kind: "ALERTMANAGER" }),
        sampleCheck("board", { kind: "WEBHOOK" }),
      ];
      const upgrade = await bench.upgrade({ checks }, fake);
      await upgrade.untilStatuses("In Progress / PAUSED");
      await upgrade.ask("resume");
      await eventually(
        () => upgrade.upgrade(),
        ({ waitingFor }) => waitingFor?.message === "Check board decides later",
      );
      await upgrade.handle.signal(checkDecidedSignal, { askId: asks["board"]?.[0], passed: true });
      await upgrade.end();
      return upgrade;
    },
  },

  "checks-after-resources-waited-for-accepted-and-failed": {
    ends: "OPEN",
    async tell(bench) {
      const answers: readonly CheckAnswer[] = [failing, { verdict: "LATER", text: "" }, failing, failing];
      const asks: string[] = [];
      const fake = new FakeActivities(
        { askCheck: ({ askId }) => Promise.resolve(answers[asks.push(askId) - 1] ?? passed) },
        hostCount,
      );
      const at = ["AFTER_RESOURCE"] as const;
      const checks = [
        sampleCheck("board", { at, kind: "WEBHOOK", onFailure: "WAIT" }),
        sampleCheck("pausing", { at, onFailure: "PAUSE" }),
        sampleCheck("failing", { at, kind: "ALERTMANAGER" }),
      ];
      const [first, second] = clusters(2);
      if (!first || !second) throw new Error("unreachable");
      const afterwards = { ...second, scheduledTimestamp: await bench.inTime(3_600_000) };
      const upgrade = await bench.upgrade({ checks, resources: [first, afterwards] }, fake);
      await eventually(
        () => upgrade.upgrade(),
        ({ waitingFor }) => waitingFor?.message === "Check board decides later",
      );
      await upgrade.handle.signal(checkDecidedSignal, { askId: asks[1], passed: true });
      await upgrade.untilStatuses("In Progress / PAUSED");
      await upgrade.ask("resume");
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "checks-around-hosts-waited-for-accepted-and-failed": {
    ends: "OPEN",
    async tell(bench) {
      const answers: readonly CheckAnswer[] = [{ verdict: "LATER", text: "" }, passed, failing, passed, failing];
      const asks: string[] = [];
      const fake = new FakeActivities(
        { askCheck: ({ askId }) => Promise.resolve(answers[asks.push(askId) - 1] ?? passed) },
        hostCount,
      );
      const checks = [
        sampleCheck("board", { at: ["BEFORE_HOST"], kind: "WEBHOOK", onFailure: "WAIT" }),
        sampleCheck("failing", { at: ["BEFORE_HOST"], kind: "ALERTMANAGER" }),
        sampleCheck("pausing", { at: ["AFTER_HOST"], onFailure: "PAUSE" }),
      ];
      const upgrade = await bench.upgrade({ checks, rollout: { healthGate: true } }, fake);
      await eventually(
        () => upgrade.upgrade(),
        ({ waitingFor }) => waitingFor?.message === "Check board decides later",
      );
      await upgrade.handle.signal(checkDecidedSignal, { askId: asks[0], passed: true });
      await upgrade.untilStatuses("In Progress / PAUSED");
      await upgrade.ask("resume");
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },

  "check-failed": {
    ends: "OPEN",
    async tell(bench) {
      const fake = new FakeActivities({ askCheck: () => Promise.resolve(failing) }, hostCount);
      const upgrade = await bench.upgrade({ checks: [sampleCheck("failing")] }, fake);
      await upgrade.untilStatuses(failed);
      return upgrade;
    },
  },
};

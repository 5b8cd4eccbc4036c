import { isRight } from "fp-ts/Either";
import { closedFailure } from "../../../../activities/failures";
import { type Freeze, freezeWorkflowId, frozenError } from "../../../../src/domain/freeze";
import { closedError } from "../../../../src/domain/opening";
import { temporalFreezes } from "../../../../src/temporal/freezes";
import { eventually } from "../../../support/eventually";
import { FakeActivities, upgraded } from "../../../support/fake-activities";
import type { RunningUpgrade } from "../../../support/running-upgrade";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import { hostCount, type Story } from "../story";

const domain = "frozen-domain";
const closedDomain = "closed-domain";

/** Upgrades that an emergency stop or a maintenance window keeps from beginning what comes next. */
export const freezeStories: Readonly<Record<string, Story>> = {
  "open-while-frozen": { ends: "OPEN", freeze: freezeWorkflowId(domain), tell: frozenBeforeHost },

  "frozen-and-thawed": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await frozenBeforeHost(bench);
      await thaw(bench);
      await upgrade.end();
      return upgrade;
    },
  },

  "frozen-before-its-begin": {
    ends: "COMPLETED",
    freeze: freezeWorkflowId(domain),
    async tell(bench) {
      await freeze(bench, { until: new Date(Date.now() + 3_000).toISOString() });
      const upgrade = await bench.upgrade({ domain }, new FakeActivities({}, hostCount));
      await upgrade.end();
      return upgrade;
    },
  },

  "overridden-in-work": {
    ends: "COMPLETED",
    async tell(bench) {
      const upgrade = await closedBeforeHost(bench);
      await upgrade.ask("commit", { maintenanceWindow: "IGNORE", reason: "Told in a story", requestedBy: "operator" });
      await upgrade.end();
      bench.closedDomains.delete(closedDomain);
      return upgrade;
    },
  },

  "overridden-before-its-begin": {
    ends: "COMPLETED",
    async tell(bench) {
      bench.closedDomains.add(closedDomain);
      const upgrade = await bench.upgrade({ domain: closedDomain }, new FakeActivities({}, hostCount));
      await untilClosed(upgrade);
      await upgrade.ask("commit", { maintenanceWindow: "IGNORE", reason: "Told in a story", requestedBy: "operator" });
      await upgrade.end();
      bench.closedDomains.delete(closedDomain);
      return upgrade;
    },
  },
};

/** Of its two hosts the first is done, and the end of the maintenance window has kept the second from beginning. */
async function closedBeforeHost(bench: UpgradeBench): Promise<RunningUpgrade> {
  const upgrade = await bench.upgrade(
    { domain: closedDomain },
    new FakeActivities(
      {
        remediateHost: (input) => {
          const opening = bench.openingOf(input.places);
          if (!opening.isOpen) throw closedFailure(closedError(opening));
          bench.closedDomains.add(closedDomain);
          return Promise.resolve(upgraded(input));
        },
      },
      hostCount,
    ),
  );
  await untilClosed(upgrade);
  return upgrade;
}

async function untilClosed(upgrade: RunningUpgrade): Promise<void> {
  await eventually(
    () => upgrade.upgrade(),
    ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "WINDOW",
  );
}

/** Of its two hosts the first is done, and a freeze has kept the second from beginning. */
async function frozenBeforeHost(bench: UpgradeBench): Promise<RunningUpgrade> {
  const frozen = { reason: "Told in a story", frozenBy: "operator", since: "2026-01-01T00:00:00.000Z", domain };
  let isFrozen = false;
  const upgrade = await bench.upgrade(
    { domain },
    new FakeActivities(
      {
        remediateHost: async (input) => {
          if (isFrozen && (await bench.readFreezes([domain])).length > 0) throw closedFailure(frozenError(frozen));
          if (!isFrozen) await freeze(bench, frozen);
          isFrozen = true;
          return upgraded(input);
        },
      },
      hostCount,
    ),
  );
  await eventually(
    () => upgrade.upgrade(),
    ({ phase, waitingFor }) => phase === "WAITING" && waitingFor?.code === "FROZEN",
  );
  return upgrade;
}

async function freeze(bench: UpgradeBench, more: Partial<Freeze>): Promise<void> {
  const frozen = {
    reason: "Told in a story",
    frozenBy: "operator",
    since: "2026-01-01T00:00:00.000Z",
    domain,
    ...more,
  };
  const put = await temporalFreezes(bench.env.client).put(frozen)();
  if (!isRight(put)) throw new Error("It was not frozen");
}

async function thaw(bench: UpgradeBench): Promise<void> {
  const lifted = await temporalFreezes(bench.env.client).lift(domain, "operator")();
  if (!isRight(lifted)) throw new Error("The freeze was not lifted");
}

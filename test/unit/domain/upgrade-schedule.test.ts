import { expect } from "chai";
import {
  beginTime,
  isInThePast,
  notBefore,
  reschedulePlan,
  rescheduleSwitchovers,
  saysWhen,
  withTimesOf,
} from "../../../src/domain/plan/schedule";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { toEpochMilliseconds } from "../../../src/domain/timestamp";
import { initialUpgrade } from "../../../src/domain/upgrade/upgrade-facts";
import { noInstallations, sampleBundle, samplePlan } from "../../support/sample-plan";

const [early, late, other] = ["2026-12-01T00:00:00.000Z", "2026-12-02T00:00:00.000Z", "2026-12-03T00:00:00.000Z"];

describe("the schedule of an upgrade", () => {
  it("has a time unless upgradeNow overrules it", () => {
    expect(notBefore({})).to.equal(undefined);
    expect(notBefore({ scheduledTimestamp: early })).to.equal(early);
    expect(notBefore({ scheduledTimestamp: early, upgradeNow: false })).to.equal(early);
    expect(notBefore({ scheduledTimestamp: early, upgradeNow: true })).to.equal(undefined);
  });

  it("lies in the past beyond a minute of clock skew", () => {
    const now = toEpochMilliseconds(early);
    expect(isInThePast({ scheduledTimestamp: early }, now + 60_000)).to.equal(false);
    expect(isInThePast({ scheduledTimestamp: early }, now + 60_001)).to.equal(true);
    expect(isInThePast({ scheduledTimestamp: early, upgradeNow: true }, now + 60_001)).to.equal(false);
    expect(isInThePast({}, now)).to.equal(false);
  });

  it("says when, or leaves it open", () => {
    expect(saysWhen({ scheduledTimestamp: early })).to.equal(true);
    expect(saysWhen({ upgradeNow: true })).to.equal(true);
    expect(saysWhen({ upgradeNow: false })).to.equal(false);
    expect(saysWhen({})).to.equal(false);
  });
});

describe("reschedulePlan", () => {
  const plan = samplePlan({
    resources: [
      { resourceId: "a", scheduledTimestamp: early },
      { resourceId: "b", scheduledTimestamp: late, upgradeNow: true },
      { resourceId: "c" },
    ],
  });
  const times = (p: typeof plan) => resourcesOf(p).map(beginTime);

  it("begins with each resource's own time; 0 is at once", () => {
    expect(times(plan)).to.deep.equal([toEpochMilliseconds(early), 0, 0]);
  });

  it("gives every resource the one time, in what it does and in what it shows", () => {
    const changed = reschedulePlan(plan, { scheduledTimestamp: other });
    expect(new Set(times(changed))).to.deep.equal(new Set([toEpochMilliseconds(other)]));
    expect(changed.spec.resourceUpgradeSpecs).to.deep.equal([
      { resourceId: "a", scheduledTimestamp: other },
      { resourceId: "b", scheduledTimestamp: other },
      { resourceId: "c", scheduledTimestamp: other },
    ]);
  });

  it("lets upgradeNow win over a time beside it, and shows both", () => {
    const changed = reschedulePlan(plan, { scheduledTimestamp: other, upgradeNow: true });
    expect(times(changed)).to.deep.equal([0, 0, 0]);
    expect(changed.spec.resourceUpgradeSpecs[2]).to.deep.equal({
      resourceId: "c",
      scheduledTimestamp: other,
      upgradeNow: true,
    });
  });

  it("changes nothing but the times, and not the plan that it was given", () => {
    const before = structuredClone(plan);
    const changed = reschedulePlan(plan, { upgradeNow: true });
    expect(plan).to.deep.equal(before);
    expect(reschedulePlan(changed, { scheduledTimestamp: early })).to.deep.equal(
      reschedulePlan(plan, { scheduledTimestamp: early }),
    );
    const { scheduledTimestamp: _, ...first } = resourcesOf(plan)[0] ?? { scheduledTimestamp: "" };
    expect(resourcesOf(changed)[0]).to.deep.equal(first);
  });
});

describe("withTimesOf", () => {
  const plan = samplePlan({
    resources: [
      { resourceId: "a", scheduledTimestamp: late },
      { resourceId: "b", scheduledTimestamp: early },
    ],
    bundle: {
      ...sampleBundle,
      components: [...(sampleBundle.components ?? []), { id: "mgmt", type: "MGMT", toVersion: "9.0.2" }],
    },
    installations: {
      ...noInstallations,
      management: [
        {
          resourceId: "m",
          name: "vc-01",
          componentManagerId: "vc01",
          clusters: ["a", "b"],
          places: [{ domain: "fra1" }],
        },
      ],
    },
    inputs: { mgmtUpgradeUserInputSpecs: [{ startSwitchoverTimestamp: late }] },
  });

  it("leaves a plan whose times have not been changed as it was", () => {
    expect(withTimesOf(plan, initialUpgrade(plan))).to.deep.equal(plan);
  });

  it("shows the times that were given since, of clusters, servers and switchovers", () => {
    const startSwitchoverTimestamp = "2026-12-04T00:00:00.000Z";
    for (const schedule of [{ scheduledTimestamp: other }, { upgradeNow: true }]) {
      const moved = rescheduleSwitchovers(reschedulePlan(plan, schedule), [
        { resourceId: "m", startSwitchoverTimestamp },
      ]);
      expect(withTimesOf(plan, initialUpgrade(moved))).to.deep.equal(moved);
    }
  });
});

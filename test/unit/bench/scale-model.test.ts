import { expect } from "chai";
import { defaultAssumptions, scaleOf } from "../../../bench/scale-model";

const costs = {
  eventsPerHost: 8,
  historyKilobytesPerHost: 4,
  serviceMillisecondsPerHost: 40,
  temporalMillisecondsPerHost: 20,
  serviceSharePerCluster: 0.002,
  temporalSharePerCluster: 0.001,
};
const assumptions = { ...defaultAssumptions, hosts: 604_800, hostsPerCluster: 60, hostMinutes: 24, campaignDays: 7 };

describe("calculation of a large fleet", () => {
  it("spreads a campaign over its days", () => {
    const scale = scaleOf(costs, assumptions);
    expect(scale.hostsPerSecond).to.be.closeTo(1, 1e-9);
    expect(scale.eventsPerSecond).to.be.closeTo(8, 1e-9);
    // A cluster takes a day of the seven.
    expect(scale.clusters).to.equal(10_080);
    expect(scale.clustersInWork).to.be.closeTo(1440, 1e-6);
    expect(scale.heartbeatsPerSecond).to.be.closeTo(720, 1e-6);
    expect(scale.serviceProcessors).to.be.closeTo((0.04 + 2.88) / 0.5, 1e-6);
  });

  it("takes as long as one cluster does where the campaign is to be shorter", () => {
    const scale = scaleOf(costs, { ...assumptions, campaignDays: 0.5 });
    expect(scale.clustersInWork).to.equal(scale.clusters);
    expect(scale.hostsPerSecond).to.be.closeTo(7, 1e-9);
  });

  it("is linear in the hosts", () => {
    const [one, ten] = [assumptions, { ...assumptions, hosts: assumptions.hosts * 10 }].map((a) => scaleOf(costs, a));
    for (const name of ["databaseRows", "databaseGigabytes", "actions", "dollarsPerYearOwn"] as const)
      expect((ten?.[name] ?? 0) / (one?.[name] ?? 1)).to.be.closeTo(10, 0.01);
  });

  it("costs less where it heartbeats less often", () => {
    const often = scaleOf(costs, assumptions);
    const seldom = scaleOf(costs, { ...assumptions, heartbeatSeconds: 30 });
    expect(often.actions / seldom.actions).to.be.above(8);
    expect(seldom.eventsPerSecond).to.equal(often.eventsPerSecond);
    expect(seldom.dollarsPerYearHosted).to.be.below(often.dollarsPerYearHosted / 5);
  });
});

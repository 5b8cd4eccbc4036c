import { failedCheck, FakeActivities, passedCheck, sampleHosts } from "../../../support/fake-activities";
import { clusters } from "../../../support/sample-plan";
import { hostCount, type Story } from "../story";

/** Upgrades that leave out a part of what they could upgrade. */
export const scopeStories: Readonly<Record<string, Story>> = {
  // Of each cluster one host is out of scope; a host joins both, which only the one with `exclude` takes on.
  "some-hosts-of-each-cluster": {
    ends: "COMPLETED",
    async tell(bench) {
      const resources = clusters(2);
      const [some, allBut] = resources;
      const hostScopes = new Map([
        [some?.resourceId ?? "", { include: ["host-1"] }],
        [allBut?.resourceId ?? "", { exclude: ["host-1"] }],
      ]);
      const readers = new Set<string>();
      const fake = new FakeActivities({
        readClusterHosts: ({ cluster: { resourceId } }) => {
          const hosts = readers.has(resourceId) ? hostCount + 1 : hostCount;
          readers.add(resourceId);
          return Promise.resolve(sampleHosts(hosts));
        },
      });
      const upgrade = await bench.upgrade({ resources, hostScopes }, fake);
      await upgrade.end();
      return upgrade;
    },
  },

  "left-out-after-failed-prechecks": {
    ends: "COMPLETED",
    async tell(bench) {
      const resources = clusters(2);
      const fake = new FakeActivities(
        {
          runClusterPrechecks: ({ cluster: { resourceId } }) =>
            Promise.resolve({ stages: resourceId === resources[0]?.resourceId ? failedCheck() : passedCheck() }),
        },
        hostCount,
      );
      const inputs = { onPrecheckFailure: "SKIP_RESOURCE" } as const;
      const upgrade = await bench.upgrade({ resources, inputs }, fake);
      await upgrade.end();
      return upgrade;
    },
  },
};

import { expect } from "chai";
import {
  activityFailure,
  FakeActivities,
  Gate,
  hostFailure,
  sampleError,
  upgraded,
} from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const poweredOff = clusters(1).map((cluster) => ({
  ...cluster,
  hostosUpgradeOptionsSpec: { preRemediationPowerAction: "POWER_OFF_VMS" } as const,
}));
const succeeded = "Successful / COMPLETED_WITH_SUCCESS";

describe("The rollout policy of a cluster", function () {
  this.timeout(30_000);

  describe("on a server with a clock", () => {
    const bench = useBench("DEV_SERVER");

    it("waits for the health gate before each host, and says so", async () => {
      const gate = new Gate();
      let gates = 0;
      const fake = new FakeActivities({
        awaitClusterHealth: async () => {
          if (++gates === 2) await gate.pass();
        },
      });
      const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
      await gate.reached;
      expect(fake.remediations).to.have.length(1);
      expect((await upgrade.subTask()).description).to.match(
        /^Waiting for the cluster to be healthy before the next host/,
      );
      gate.open();
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      const id = upgrade.resourceId();
      expect(fake.calls.filter((call) => /^(gate|remediate) /.test(call))).to.deep.equal(
        [1, 2, 3].flatMap((n) => [`gate ${id}`, `remediate ${id}/host-${n}`]),
      );
      expect((await upgrade.subTask()).description).to.not.match(/^Waiting/);
    });

    it("stops the cluster where the gate stays closed: the hosts that follow are not begun", async () => {
      let gates = 0;
      const fake = new FakeActivities({
        awaitClusterHealth: async () => {
          if (++gates === 2) throw activityFailure("HEALTH_GATE_CLOSED");
        },
      });
      const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
      expect((await upgrade.task()).errors?.[0]?.errorCode).to.equal("HEALTH_GATE_CLOSED");
      expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    });

    it("has the host's own Activity look at the health, and waits with another only where that does not find it healthy", async () => {
      const given: (string | undefined)[] = [];
      let looks = 0;
      const fake = new FakeActivities({
        lookAtHealth: async () => (++looks === 2 ? { healthy: false, check: "check-2" } : { healthy: true }),
        awaitClusterHealth: async ({ check }) => void given.push(check),
      });
      const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect({ looks, given }).to.deep.equal({ looks: 3, given: ["check-2"] });
    });

    for (const [what, spec] of [
      ["of a baseline-managed cluster, whose hosts are read before", { kinds: ["BASELINE"] }],
      [
        "of hosts whose virtual machines are powered off, which are read before",
        { resources: poweredOff, rollout: { hostsAtOnce: 2 } },
      ],
    ] as const)
      it(`waits with an Activity of its own before the group ${what}`, async () => {
        const fake = new FakeActivities({ lookAtHealth: () => Promise.reject(new Error("looked")) }, 2);
        const upgrade = await bench().upgrade({ ...spec, rollout: { healthGate: true, ...spec.rollout } }, fake);
        expect(await upgrade.end()).to.equal("SUCCESSFUL");
        expect(fake.calls.filter((call) => /^(gate|before|running) /.test(call))[0]).to.match(/^gate /);
      });

    it("never has more hosts in work than it allows", async () => {
      let inWork = 0;
      let most = 0;
      const both = new Gate();
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            most = Math.max(most, ++inWork);
            if (inWork === 2) both.open();
            // The first two only end together, so they must have begun together.
            await both.pass();
            inWork--;
            return upgraded(input);
          },
        },
        4,
      );
      const upgrade = await bench().upgrade({ rollout: { hostsAtOnce: 2 }, kinds: ["BASELINE"] }, fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(most).to.equal(2);
    });

    it("goes on after as many failed hosts as it tolerates, and ends with a warning that names them", async () => {
      const fake = new FakeActivities({
        remediateHost: async (input) => {
          if (input.host.host === "host-2") throw hostFailure(input);
          return upgraded(input);
        },
      });
      const upgrade = await bench().upgrade({ rollout: { toleratedFailures: 1 } }, fake);
      expect(await upgrade.end()).to.equal("SUCCESSFUL_WITH_WARNING");
      expect(await upgrade.statuses()).to.equal("COMPLETED_WITH_WARNING / COMPLETED_WITH_SUCCESS");
      expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "FAILED", "SUCCESSFUL"]);
      const { errors = [], isRetryable, resolutionStatus } = await upgrade.task();
      expect(errors.map(({ errorCode }) => errorCode)).to.deep.equal(["HOSTS_FAILED_WITHIN_TOLERANCE"]);
      expect(JSON.stringify(errors)).to.contain("esx-02.example.com");
      expect({ isRetryable, resolutionStatus }).to.deep.equal({ isRetryable: false, resolutionStatus: undefined });
    });

    it("stops at the first failure beyond what it tolerates", async () => {
      const fake = new FakeActivities(
        {
          remediateHost: async (input) => {
            if (["host-1", "host-3"].includes(input.host.host)) throw hostFailure(input);
            return upgraded(input);
          },
        },
        4,
      );
      const upgrade = await bench().upgrade({ rollout: { toleratedFailures: 1 } }, fake);
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      expect(await upgrade.hosts()).to.deep.equal(["FAILED", "SUCCESSFUL", "FAILED", "NOT_APPLICABLE"]);
    });

    it("can be cancelled while the gate is closed", async () => {
      const gate = new Gate();
      const fake = new FakeActivities({ awaitClusterHealth: () => gate.pass() });
      const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
      await gate.reached;
      expect(await upgrade.hosts()).to.deep.equal(["PENDING", "PENDING", "PENDING"]);
      await upgrade.handle.cancel();
      expect(await upgrade.end()).to.equal("CANCELLED");
      expect(fake.remediations).to.deep.equal([]);
      expect(new Set((await upgrade.subTask()).subTasks?.map(({ reasonCode }) => reasonCode))).to.deep.equal(
        new Set(["NOT_STARTED"]),
      );
      expect(fake.changes.at(-1)).to.equal(`restorePolicy ${upgrade.resourceId()}`);
    });

    it("keeps what the gate reported when it failed as the error of the cluster", async () => {
      const error = sampleError("HEALTH_GATE_CLOSED");
      const fake = new FakeActivities({
        awaitClusterHealth: () => Promise.reject(activityFailure("HEALTH_GATE_CLOSED")),
      });
      const upgrade = await bench().upgrade({ rollout: { healthGate: true } }, fake);
      await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
      expect((await upgrade.task()).errors?.[0]?.nestedErrors).to.deep.equal([error]);
    });
  });

  describe("on a server that skips time", () => {
    const bench = useBench("TIME_SKIPPING");

    it("waits the soak time after each host but the last", async () => {
      const began: number[] = [];
      const fake = new FakeActivities({
        remediateHost: async (input) => {
          began.push(await bench().now());
          return upgraded(input);
        },
      });
      const upgrade = await bench().upgrade({ rollout: { soakSeconds: 3600 } }, fake);
      const end = await upgrade.handle.result();
      expect(end.outcome).to.equal("SUCCESSFUL");
      const [first = 0, second = 0, third = 0] = began;
      expect(second - first).to.be.within(3_600_000, 3_660_000);
      expect(third - second).to.be.within(3_600_000, 3_660_000);
      // Not by the clock of the server, which may have skipped further meanwhile.
      const { completionTimestamp = "" } = await upgrade.task();
      expect(Date.parse(completionTimestamp) - third).to.be.lessThan(600_000);
      expect(await upgrade.statuses()).to.equal(succeeded);
    });
  });
});

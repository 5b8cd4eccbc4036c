import { expect } from "chai";
import { workerShutdownFailure } from "../../../activities/failures";
import type { UpgradeActivities } from "../../../activities/contract";
import { type ClustersOnSimulator, simulateClusters } from "../../support/clusters-on-simulator";
import { eventually } from "../../support/eventually";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

/** What a cluster is configured for before; most of it is not what an upgrade sets. */
const configured = {
  failure_action: { action: "RETRY", retry_count: 3, retry_delay: 300 },
  pre_remediation_power_action: "SUSPEND_VMS",
  enable_quick_boot: true,
  disable_dpm: false,
  disable_hac: false,
};

describe("The settings of a cluster, with the real Activities on the simulator", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");
  let simulated: ClustersOnSimulator;
  afterEach(() => simulated.close());

  for (const kind of ["IMAGE", "BASELINE"] as const)
    describe(`of a cluster managed by ${kind === "IMAGE" ? "an image" : "baselines"}`, () => {
      const [resource] = clusters(1, `cl-${kind.toLowerCase()}-`);
      const resourceId = resource?.resourceId ?? "";

      beforeEach(async () => {
        simulated = await simulateClusters([{ resourceId, kind }], { admissionControl: true, dpm: true });
        if (kind === "IMAGE") await simulated.putPolicy(resourceId, configured);
      });

      const settings = async () => {
        const { policy, admissionControl, dpm } = await simulated.state(resourceId);
        return { policy, admissionControl, dpm };
      };
      const steps = async () => (await simulated.ledger()).map(({ step }) => step);
      const upgrade = (replaced?: (real: UpgradeActivities) => Partial<UpgradeActivities>) =>
        bench().upgrade(
          {
            resources: [{ resourceId, hostosUpgradeOptionsSpec: { disableHac: true, disableDpm: true } }],
            kinds: [kind],
          },
          simulated.activities(replaced),
        );

      /** Runs an upgrade; whatever it does to the settings, they are as before at its end. */
      async function puttingBack(run: () => Promise<void>): Promise<void> {
        const before = await settings();
        await run();
        expect(await settings()).to.deep.equal(before);
        const done = await steps();
        expect(done).to.include(kind === "IMAGE" ? "POLICY_SET" : "SETTINGS_SWITCHED_OFF");
        expect(done.filter((step) => step === "SETTINGS_RESTORED")).to.have.length(
          done.filter((step) => step === "SETTINGS_SWITCHED_OFF").length,
        );
      }

      it("are put back after success", () =>
        puttingBack(async () => {
          expect(await (await upgrade()).end()).to.equal("SUCCESSFUL");
        }));

      it("are put back after a failure", () =>
        puttingBack(async () => {
          await simulated.fault({ kind: "REMEDIATION_FAILS" });
          await (await upgrade()).untilStatuses("Failed / COMPLETED_WITH_FAILURE");
        }));

      it("are put back after a cancellation", () =>
        puttingBack(async () => {
          const running = await upgrade();
          await eventually(steps, (done) => done.includes("MAINTENANCE_ENTERED"));
          expect(await settings()).to.deep.include({ admissionControl: false, dpm: false });
          await running.handle.cancel();
          expect(await running.end()).to.equal("CANCELLED");
        }));

      it("are put back after the worker was lost in the middle of a host", () =>
        puttingBack(async () => {
          const running = await upgrade();
          await eventually(steps, (done) => done.includes("MAINTENANCE_ENTERED"));
          await bench().stopWorker();
          await bench().startWorker();
          expect(await running.end()).to.equal("SUCCESSFUL");
        }));

      it("are put back where the worker is lost after they were set and before anybody knew", () =>
        puttingBack(async () => {
          let puts = 0;
          const running = await upgrade((real) => ({
            putRemediationPolicy: async (input) => {
              await real.putRemediationPolicy(input);
              if (++puts === 1) throw workerShutdownFailure({});
            },
          }));
          expect(await running.end()).to.equal("SUCCESSFUL");
          expect(puts).to.equal(2);
        }));

      it("are put back only when nothing that a stopped worker has asked for can arrive any more", () =>
        puttingBack(async () => {
          let puts = 0;
          const running = await upgrade((real) => ({
            putRemediationPolicy: async (input) => {
              await real.putRemediationPolicy(input);
              if (++puts === 1) throw workerShutdownFailure({}, undefined, { mayStillArrive: true });
            },
          }));
          expect(await running.end()).to.equal("SUCCESSFUL");
          const timers = (await running.events(0)).filter((event) => event.timerStartedEventAttributes);
          const summaries = await Promise.all(timers.map((event) => running.summaryOf(event)));
          expect(summaries.filter((summary) => summary !== "before the upgrade is told of more hosts")).to.have.length(
            1,
          );
        }));

      it("are put back where the upgrade is cancelled at that moment", () =>
        puttingBack(async () => {
          let start: (upgrade: RunningUpgrade) => void = () => undefined;
          const started = new Promise<RunningUpgrade>((resolve) => (start = resolve));
          const running = await upgrade((real) => ({
            putRemediationPolicy: async (input) => {
              await real.putRemediationPolicy(input);
              await (await started).handle.cancel();
              throw workerShutdownFailure({});
            },
          }));
          start(running);
          expect(await running.end()).to.equal("CANCELLED");
        }));
    });
});

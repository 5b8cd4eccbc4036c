import { Context } from "@temporalio/activity";
import { isRight } from "fp-ts/Either";
import { readinessId, readinessPlan } from "../../../../src/domain/readiness/readiness-task";
import { temporalReadinessChecks } from "../../../../src/temporal/readiness-checks";
import { FakeActivities, failedCheck, passedCheck } from "../../../support/fake-activities";
import { clusters, samplePlan } from "../../../support/sample-plan";
import type { UpgradeBench } from "../../../support/upgrade-bench";
import type { Story } from "../story";

const id = readinessId("00000000-0000-4000-8000-000000000031");

/** Readiness checks, each beside an upgrade. */
export const readinessStories: Readonly<Record<string, Story>> = {
  "readiness-of-two-clusters": {
    ends: "COMPLETED",
    readiness: id,
    async tell(bench) {
      let checked = 0;
      await check(
        bench,
        new FakeActivities({
          runClusterPrechecks: () => Promise.resolve({ stages: checked++ === 0 ? failedCheck() : passedCheck() }),
        }),
      );
      await bench.env.client.workflow.getHandle(id).result();
      return upgraded(bench);
    },
  },

  "readiness-open": {
    ends: "COMPLETED",
    readiness: id,
    async tell(bench) {
      await check(bench, new FakeActivities({ runClusterPrechecks: () => Context.current().cancelled }));
      return upgraded(bench);
    },
  },

  "readiness-cancelled": {
    ends: "COMPLETED",
    readiness: id,
    async tell(bench) {
      await check(bench, new FakeActivities({ runClusterPrechecks: () => Context.current().cancelled }));
      await temporalReadinessChecks(bench.env.client).cancel(id)();
      await bench.env.client.workflow
        .getHandle(id)
        .result()
        .catch(() => undefined);
      return upgraded(bench);
    },
  },
};

async function check(bench: UpgradeBench, fake: FakeActivities): Promise<void> {
  const plan = samplePlan({ resources: clusters(2), now: await bench.now() });
  bench.serve(plan, fake);
  const started = await temporalReadinessChecks(bench.env.client).start(readinessPlan(plan), {
    ...{ id, requestedBy: "a story" },
  })();
  if (!isRight(started)) throw new Error("The readiness check was not started");
}

async function upgraded(bench: UpgradeBench) {
  const upgrade = await bench.upgrade();
  await upgrade.end();
  return upgrade;
}

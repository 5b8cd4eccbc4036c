import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { isLeft, isRight } from "fp-ts/Either";
import pino from "pino";
import type { UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import { PayloadReader, StoredUpgrade } from "../../../src/temporal/describe-workflow";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { samplePlan } from "../../support/sample-plan";
import { bundleOf, component, domain } from "../../support/sample-platform";
import type { Draws } from "../walk/deck";

/** What an operator asks of an upgrade, so many milliseconds after it was started. */
interface Request {
  readonly at: number;
  readonly what: "commit" | "pause" | "resume" | "cancel";
}

/** An upgrade with ends of every kind in it: at once, at a timer, in a Signal, by a cancellation. */
export function drawUpgrade(random: Draws): { readonly plan: UpgradePlan; readonly requests: readonly Request[] } {
  const chance = (probability: number) => random.number() < probability;
  const now = Date.now();
  const draft = chance(0.3);
  const at = () => Math.round(random.number() * 6_000);
  const servers = chance(0.2) ? domain() : undefined;
  const resources = servers?.resources ?? drawClusters(random);
  const scheduled = chance(0.3) ? { scheduledTimestamp: new Date(now + 1_000 + at() / 2).toISOString() } : {};
  const failureAction = { action: "RETRY", retryCount: 1, retryDelay: 1 } as const;
  const plan = samplePlan({
    now,
    draft,
    resources: resources.map((resource) => ({
      ...resource,
      ...scheduled,
      ...(chance(0.5) && { hostosUpgradeOptionsSpec: { hostosUpgradeFailureAction: failureAction } }),
    })),
    rollout: {
      hostsAtOnce: random.one([1, 1, 3]),
      soakSeconds: random.one([0, 0, 0, 1]),
      healthGate: chance(0.7),
      toleratedFailures: random.one([0, 1]),
    },
    ...(servers && {
      installations: servers.installations,
      managementServer: servers.managementServer,
      bundle: bundleOf(component("NETVIRT"), component("MGMT")),
      inputs: { mgmtUpgradeUserInputSpecs: [{ upgradeMechanism: "InPlace" }] },
    }),
    ...(chance(0.3) && { notifications: [{ id: "chat", retryHours: 1 }] }),
  });
  const paused = chance(0.3) ? at() : undefined;
  const requests: Request[] = [
    ...(draft ? [{ at: at(), what: "commit" } as const] : []),
    ...(paused === undefined
      ? []
      : [{ at: paused, what: "pause" } as const, { at: paused + at(), what: "resume" } as const]),
    ...(chance(0.15) ? [{ at: at(), what: "cancel" } as const] : []),
  ];
  return { plan, requests: requests.sort((a, b) => a.at - b.at) };
}

/** One to ten clusters, most of them small: what hangs, hangs at an end. The last digit of an id says how many hosts it has. */
function drawClusters(random: Draws) {
  const hosts = random.one([..."11111122233a"]);
  return Array.from({ length: random.one([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 10]) }, () => ({
    // What fails and what is slow is decided by these ids (stress-worker.ts), so the seed decides them.
    resourceId: `cl-${Math.floor(random.number() * 2 ** 40).toString(36)}-${hosts}`,
  }));
}

/** An upgrade that has been started, and asked what is to be asked of it. */
export interface StressedUpgrade {
  readonly id: string;
  /** Whether it has ended within so many milliseconds; what waits for a decision is given it, a failed one is given up. */
  ends(limit: number): Promise<boolean>;
}

export async function startStressedUpgrade(client: Client, random: Draws): Promise<StressedUpgrade> {
  const { plan, requests } = drawUpgrade(random);
  const executions = temporalUpgradeExecutions(client, pino({ level: "silent" }));
  const started = await executions.start(plan, { requestedBy: "the stress suite" })();
  if (isLeft(started)) throw new Error(JSON.stringify(started.left));
  const handle = client.workflow.getHandle(plan.id);
  const asking = requests.map(async ({ at, what }) => {
    await pause(at);
    // It may have ended before it is asked.
    await (what === "cancel" ? handle.cancel() : handle.signal(what)).catch(() => undefined);
  });
  await Promise.all(asking);
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  return {
    id: plan.id,
    async ends(limit) {
      for (const deadline = Date.now() + limit; Date.now() < deadline; await pause(1_000)) {
        const { status, raw } = await handle.describe();
        if (status.name !== "RUNNING") return true;
        const memo = StoredUpgrade.decode(await payloads.fields(raw.workflowExecutionInfo?.memo));
        const phase = isRight(memo) ? memo.right.upgrade.status : undefined;
        if (phase === "COMPLETED_WITH_FAILURE") await handle.signal("resolve").catch(() => undefined);
        else if (phase === "PAUSED") await handle.signal("resume").catch(() => undefined);
        else if (phase === "DRAFT") await handle.signal("commit").catch(() => undefined);
      }
      return false;
    },
  };
}

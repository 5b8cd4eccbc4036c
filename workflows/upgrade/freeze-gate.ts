import type { ErrorBody } from "../../src/domain/errors";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import { currentTime } from "../clock";
import { lookAtFreeze } from "../freeze-look";
import type { UpgradeState } from "./upgrade-state";

/** Sets resources aside that a freeze keeps from beginning, until it is lifted. */
export class FreezeGate {
  /** Ids of resources that wait here. */
  private readonly waiting = new Set<string>();
  /** When freezes have let go of resources, by their ids (epoch milliseconds). */
  private readonly thawedAt = new Map<string, number>();

  constructor(private readonly state: UpgradeState) {}

  /** How many resources wait here. */
  get size(): number {
    return this.waiting.size;
  }

  holds({ resourceId }: Pick<ResourcePlan, "resourceId">): boolean {
    return this.waiting.has(resourceId);
  }

  /** Until when a freeze has kept a resource from beginning, which is no delay of its own; 0 where none has. */
  heldUntil({ resourceId }: Pick<ResourcePlan, "resourceId">): number {
    return this.thawedAt.get(resourceId) ?? 0;
  }

  /** Looks which of these may not begin now: one look for each set of domains. */
  async look(resources: readonly ResourcePlan[]): Promise<void> {
    const byDomains = new Map<string, ResourcePlan[]>();
    for (const one of resources) {
      const key = JSON.stringify(one.domains);
      byDomains.set(key, [...(byDomains.get(key) ?? []), one]);
    }
    await Promise.all(
      [...byDomains.values()].map(async (together) => {
        const domains = together[0]?.domains ?? [];
        const error = await lookAtFreeze(this.state.plan.waits, { domains });
        if (!error) return;
        for (const { resourceId } of together) this.waiting.add(resourceId);
        // Nobody waits for it: the next look decides, whatever has ended this one.
        this.untilThawed(together, domains, error).catch(() => undefined);
      }),
    );
  }

  private async untilThawed(
    together: readonly ResourcePlan[],
    domains: readonly string[],
    found: ErrorBody,
  ): Promise<void> {
    try {
      for (let error: ErrorBody | undefined = found; error;) {
        const { message } = error;
        for (const { resourceId } of together) this.state.freezeChanged(resourceId, message);
        error = await lookAtFreeze(this.state.plan.waits, { domains, known: message });
      }
    } finally {
      for (const { resourceId } of together) {
        this.state.freezeChanged(resourceId, undefined);
        this.thawedAt.set(resourceId, currentTime());
        this.waiting.delete(resourceId);
      }
    }
  }
}

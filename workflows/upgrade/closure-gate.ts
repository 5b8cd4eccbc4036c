import type { HeldCluster } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { closedFor } from "../../src/domain/opening";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import { currentTime } from "../clock";
import { lookAtClosure } from "../closure-look";
import { interruptible } from "../interruptible";
import type { UpgradeState } from "./upgrade-state";

/** Sets resources aside that a freeze, their maintenance window or a hold keeps from beginning, until they may. */
export class ClosureGate {
  /** Ids of resources that wait here. */
  private readonly waiting = new Set<string>();
  /** When freezes have let go of resources, by their ids (epoch milliseconds). */
  private readonly openedAt = new Map<string, number>();

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
    return this.openedAt.get(resourceId) ?? 0;
  }

  /** Looks which of these may not begin now: one look for each set of places, whatever clusters are there. */
  async look(resources: readonly ResourcePlan[]): Promise<void> {
    const byPlaces = new Map<string, ResourcePlan[]>();
    for (const one of resources) {
      const key = JSON.stringify(one.places.map(({ clusters: _, ...place }) => place));
      byPlaces.set(key, [...(byPlaces.get(key) ?? []), one]);
    }
    await Promise.all(
      [...byPlaces.values()].map(async (together) => {
        const { error, held, closesAt } = await lookAtClosure({ places: together.flatMap(({ places }) => places) });
        for (const { resourceId } of together) this.state.windowKnown(resourceId, closesAt);
        if (held) for (const one of together) this.setAside([one], held.find(concerns(one))?.error);
        else this.setAside(together, error);
      }),
    );
  }

  private setAside(together: readonly ResourcePlan[], error: ErrorBody | undefined): void {
    if (!error) return;
    for (const { resourceId } of together) this.waiting.add(resourceId);
    // Nobody waits for it: the next look decides, whatever has ended this one.
    this.untilOpen(together, error).catch(() => undefined);
  }

  /** Until they may begin, by the windows or without them where somebody overrides these meanwhile. */
  private async untilOpen(together: readonly ResourcePlan[], found: ErrorBody): Promise<void> {
    const ids = new Set(together.map(({ resourceId }) => resourceId));
    try {
      for (let error: ErrorBody | undefined = found; error;) {
        const closed = closedFor(error);
        this.state.closuresChanged(together, closed);
        const { resources, plan } = this.state;
        const places = resources.filter(({ resourceId }) => ids.has(resourceId)).flatMap((one) => one.places);
        const next = await interruptible(
          () => lookAtClosure({ places, known: closed.message }),
          () => this.state.plan.maintenanceOverride !== plan.maintenanceOverride,
        );
        if (!next) continue;
        // A hold is of single clusters, for which the next look decides.
        error = next.held && together.length > 1 ? undefined : next.error;
      }
    } finally {
      this.state.closuresChanged(together, undefined);
      for (const { resourceId } of together) {
        this.openedAt.set(resourceId, currentTime());
        this.waiting.delete(resourceId);
      }
    }
  }
}

function concerns({ places }: ResourcePlan): (held: HeldCluster) => boolean {
  return ({ cluster }) => places.some(({ clusters = [] }) => clusters.includes(cluster));
}

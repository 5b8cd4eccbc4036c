import type { ErrorBody } from "../../src/domain/errors";
import { type MaintenancePlace, closedFor } from "../../src/domain/opening";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import { currentTime } from "../clock";
import { lookAtClosure, lookAtFreeze } from "../freeze-look";
import type { UpgradeState } from "./upgrade-state";

/** Sets resources aside that a freeze or their maintenance window keeps from beginning, until they may. */
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

  /** Looks which of these may not begin now: one look for each set of places. */
  async look(resources: readonly ResourcePlan[]): Promise<void> {
    const byPlaces = new Map<string, ResourcePlan[]>();
    for (const one of resources) {
      const key = JSON.stringify(one.places);
      byPlaces.set(key, [...(byPlaces.get(key) ?? []), one]);
    }
    await Promise.all(
      [...byPlaces.values()].map(async (together) => {
        const places = together[0]?.places ?? [];
        const { error, closesAt } = await lookAtClosure({ places });
        for (const { resourceId } of together) this.state.known.windowKnown(resourceId, closesAt);
        if (!error) return;
        for (const { resourceId } of together) this.waiting.add(resourceId);
        // Nobody waits for it: the next look decides, whatever has ended this one.
        this.untilThawed(together, places, error).catch(() => undefined);
      }),
    );
  }

  private async untilThawed(
    together: readonly ResourcePlan[],
    places: readonly MaintenancePlace[],
    found: ErrorBody,
  ): Promise<void> {
    try {
      for (let error: ErrorBody | undefined = found; error;) {
        const closed = closedFor(error);
        for (const { resourceId } of together) this.state.freezeChanged(resourceId, closed);
        error = await lookAtFreeze({ places, known: closed.message });
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

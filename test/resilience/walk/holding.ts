import { until } from "../../support/service/deployment";
import { nameOf } from "./answered";
import type { Steering } from "./steering";
import type { Slot } from "./walked-upgrade";

/** Milliseconds after its answer from which a hold must keep everything from beginning: what was begun before is under way. */
const takesEffectIn = 4_000;

/** Holds and releases clusters and hosts, each request again until it is answered. */
export class Holding {
  constructor(private readonly steering: Steering) {}

  async holdCluster(slot: Slot): Promise<void> {
    await this.untilAnswered("PUT", slot);
    slot.hold ??= Date.now();
  }

  async holdHost(slot: Slot, host: string): Promise<void> {
    slot.heldHosts.add(host);
    for (const one of slot.upgrades) one.mayLeaveOut = true;
    await this.untilAnswered("PUT", slot, host);
  }

  async releaseAll(slots: readonly Slot[]): Promise<void> {
    for (const slot of slots) {
      if (slot.hold !== undefined) {
        slot.still.push([slot.hold + takesEffectIn, Date.now()]);
        await this.untilAnswered("DELETE", slot);
        slot.hold = undefined;
      }
      for (const host of slot.heldHosts) {
        await this.untilAnswered("DELETE", slot, host);
        slot.heldHosts.delete(host);
      }
    }
  }

  private untilAnswered(method: "PUT" | "DELETE", { cluster }: Slot, host?: string): Promise<void> {
    const path = `/v1/clusters/${cluster.resourceId}${host === undefined ? "" : `/hosts/${host}`}/hold`;
    const what = `${method} hold of ${host ?? cluster.simulated}`;
    const spec = method === "PUT" ? { reason: "Its storage is moved" } : undefined;
    return until(
      `${what} is answered`,
      async () => {
        const answer = this.steering.heard(what, await this.steering.api.send(method, path, spec));
        const done = method === "PUT" ? 200 : 204;
        if (answer && answer.status !== done) throw new Error(`${what} was answered ${nameOf(answer)}`);
        return answer !== undefined;
      },
      90,
    );
  }
}

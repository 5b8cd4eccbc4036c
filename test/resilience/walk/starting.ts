import { setTimeout as pauseFor } from "node:timers/promises";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { hasTaskEnded } from "../../../src/domain/task/lost-upgrade";
import { until } from "../../support/service/deployment";
import { nameOf, problemsOf } from "./answered";
import { specOf } from "./requests";
import type { Steering } from "./steering";
import { bundleOf } from "./walk-platform";
import { type Slot, type Start, WalkedUpgrade } from "./walked-upgrade";

/** What became of a POST: the upgrade that was accepted, or the text of the refusal; neither where nothing was heard or started. */
interface Posted {
  readonly upgrade?: WalkedUpgrade;
  readonly refusal?: string;
}

/** Starts upgrades, and knows of each that was accepted, also where the answer was lost. */
export class Starting {
  private keys = 0;

  /** `keyPrefix`: of the Idempotency-Keys, which nobody else may use. */
  constructor(
    private readonly keyPrefix: string,
    private readonly steering: Steering,
  ) {}

  newKey(): string {
    return `${this.keyPrefix}-${this.keys++}`;
  }

  /** Sends a POST, with a key again until it is answered. */
  async post(slot: Slot, version: number, start: Start, key: string | undefined, mayBeHeld: boolean): Promise<Posted> {
    const spec = specOf(slot.cluster, version, start);
    const what = `POST ${slot.cluster.simulated} ${start.draft ? "draft " : ""}${start.due} 9.0.${version}${key ? " with key" : ""}`;
    const armed = await this.steering.around.faults.left(slot.cluster.simulated);
    const accepted = (id: string) => ({ upgrade: this.accepted(id, slot, version, start, armed) });
    for (;;) {
      const reply = await this.steering.api.send<Task>("POST", "/v1/upgrades", spec, key);
      const answer = this.steering.heard(what, reply);
      if (answer?.status === 202 && reply.body) {
        if (slot.hold !== undefined && !start.draft) throw new Error(`${what} was accepted although it is held`);
        return accepted(reply.body.id);
      }
      if (answer) {
        const refusal = JSON.stringify(reply.body);
        const foreseen = [
          ...(mayBeHeld ? ["403 RESOURCE_LOCKED"] : []),
          ...(slot.hold !== undefined && !start.draft ? ["403 RESOURCE_HELD"] : []),
        ];
        if (problemsOf(answer).every((one) => foreseen.includes(nameOf(one)))) return { refusal };
        throw new Error(`${what} was answered ${nameOf(answer)}: ${refusal}`);
      }
      if (key === undefined) {
        const [upgrade] = (await this.startedUnheard(slot, version)).map((id) => accepted(id).upgrade);
        return upgrade ? { upgrade } : {};
      }
      await pauseFor(200);
    }
  }

  /**
   * A POST without a key whose answer was lost may have started an upgrade, which the list then shows; of two that were
   * sent at once there may be two, which only their version tells from others.
   */
  private async startedUnheard({ cluster }: Slot, version: number): Promise<readonly string[]> {
    let until: number | undefined;
    for (;;) {
      const path = `/v1/upgrades?resourceId=${cluster.resourceId}`;
      const { answer, body } = await this.steering.api.send<PageOfUpgrade>("GET", path);
      if (answer?.status === 200) {
        // What had been sent before all was up again may still begin now.
        until ??= Date.now() + 4_000;
        const found = body?.elements?.filter(({ bundleId }) => bundleId === bundleOf(version)) ?? [];
        if (Date.now() > until) return found.map(({ id }) => id);
      }
      await pauseFor(200);
    }
  }

  private accepted(
    id: string,
    slot: Slot,
    version: number,
    start: Start,
    armed: { readonly hosts: number; readonly checks: number },
  ): WalkedUpgrade {
    const there = slot.upgrades.find((one) => one.id === id);
    if (there) return there;
    const upgrade = new WalkedUpgrade(id, slot, version, start);
    upgrade.mayLeaveOut = slot.heldHosts.size > 0;
    upgrade.hostFailures = armed.hosts;
    upgrade.checkFailures = armed.checks;
    slot.upgrades.push(upgrade);
    slot.noteRivals();
    this.steering.around.onAccepted(id);
    return upgrade;
  }

  /** The same POST twice at once: with a key one Task, without one a single upgrade gets the cluster. */
  async startTwice(slot: Slot, attempts: number, withKey: boolean): Promise<void> {
    const isFree = !slot.mayBeHeld && slot.hold === undefined;
    const start: Start = { draft: false, due: "NOW", attempts };
    const [version, key] = [slot.newVersion(), withKey ? this.newKey() : undefined];
    const both = await Promise.all([1, 2].map(() => this.post(slot, version, start, key, !withKey || !isFree)));
    const started = both.flatMap(({ upgrade }) => upgrade ?? []);
    if (withKey) return sameOfKey(started, both);
    const [one, other] = started;
    if (isFree && !one) this.steering.say("nothing was started of the two");
    if (isFree && one && other && one !== other) await this.oneOfTwoLoses(one, other);
  }

  /**
   * One of them fails and names the other. Where the other has ended before it looked, for one of the two was begun late
   * or nobody worked for a while, it has its turn after it; that they were not at work together is seen at the end.
   */
  private async oneOfTwoLoses(one: WalkedUpgrade, other: WalkedUpgrade): Promise<void> {
    let lost: readonly boolean[] = [];
    await until(
      `one of ${one.id} and ${other.id} fails and names the other, or both have ended`,
      async () => {
        const [task, otherTask] = [await this.steering.read(one), await this.steering.read(other)];
        lost = [isLostTo(task, other), isLostTo(otherTask, one)];
        return lost.includes(true) || [task, otherTask].every((read) => read !== undefined && hasTaskEnded(read));
      },
      120,
    );
    if (!lost.includes(false)) throw new Error(`Both ${one.id} and ${other.id} failed for the other`);
    this.steering.say(lost.includes(true) ? "one of the two has lost" : "the two came one after the other");
  }
}

const isLostTo = (task: Task | undefined, { id }: WalkedUpgrade) =>
  task?.errors?.some(({ errorCode, context }) => errorCode === "RESOURCE_LOCKED" && context?.["upgradeId"] === id) ??
  false;

/**
 * Requests with one key start one Task. One of them may be refused for another upgrade that holds the cluster, and the
 * other one accepted later, but none is refused for what its own key has started.
 */
function sameOfKey(started: readonly WalkedUpgrade[], all: readonly Posted[]): void {
  const ids = new Set(started.map(({ id }) => id));
  if (ids.size > 1) throw new Error(`Several Tasks of one key: ${[...ids].join(", ")}`);
  for (const { refusal = "" } of all)
    for (const id of ids)
      if (refusal.includes(id)) throw new Error(`A request was refused for its own key: ${refusal}`);
}

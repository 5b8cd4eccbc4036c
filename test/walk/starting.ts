import { setTimeout as pauseFor } from "node:timers/promises";
import type { Task } from "../../src/domain/task";
import type { PageOfUpgrade } from "../../src/domain/upgrade";
import { until } from "../system/deployment";
import { nameOf } from "./disturbances";
import { specOf } from "./requests";
import type { Steering } from "./steering";
import { bundleOf } from "./walk-platform";
import { WalkedUpgrade, type Slot, type Start } from "./walked-upgrade";

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

  /** Sends a POST, with a key again until it is answered; gives the upgrade where one was accepted. */
  async post(
    slot: Slot,
    version: number,
    start: Start,
    key: string | undefined,
    mayBeHeld: boolean,
  ): Promise<WalkedUpgrade | undefined> {
    const spec = specOf(slot.cluster, version, start);
    const what = `POST ${slot.cluster.simulated} ${start.draft ? "draft " : ""}${start.due} 9.0.${version}${key ? " with key" : ""}`;
    const known = new Set(slot.upgrades.map(({ id }) => id));
    const armed = await this.steering.around.faults.left(slot.cluster.simulated);
    const accepted = (id: string) => this.accepted(id, slot, version, start, armed);
    for (;;) {
      const reply = await this.steering.api.send<Task>("POST", "/v1/upgrades", spec, key);
      const answer = this.steering.heard(what, reply);
      if (answer?.status === 202 && reply.body) return accepted(reply.body.id);
      if (answer) {
        if (answer.status === 403 && answer.code === "RESOURCE_LOCKED" && mayBeHeld) return undefined;
        throw new Error(`${what} was answered ${nameOf(answer)}: ${JSON.stringify(reply.body)}`);
      }
      if (key === undefined) {
        const id = await this.startedUnheard(slot, version, known);
        return id === undefined ? undefined : accepted(id);
      }
      await pauseFor(200);
    }
  }

  /** A POST without a key whose answer was lost may have started an upgrade, which the list then shows. */
  private async startedUnheard(
    { cluster }: Slot,
    version: number,
    known: ReadonlySet<string>,
  ): Promise<string | undefined> {
    const wait = Date.now() + 4_000;
    for (;;) {
      const path = `/v1/upgrades?resourceId=${cluster.resourceId}`;
      const { answer, body } = await this.steering.api.send<PageOfUpgrade>("GET", path);
      if (answer?.status === 200) {
        const found = body?.elements?.find(({ id, bundleId }) => bundleId === bundleOf(version) && !known.has(id));
        if (found || Date.now() > wait) return found?.id;
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
    upgrade.hostFailures = armed.hosts;
    upgrade.checkFailures = armed.checks;
    slot.upgrades.push(upgrade);
    slot.noteRivals();
    this.steering.around.onAccepted(id);
    return upgrade;
  }

  /** The same POST twice at once: with a key one Task, without one a single upgrade gets the cluster. */
  async startTwice(slot: Slot, attempts: number, withKey: boolean): Promise<void> {
    const isFree = !slot.mayBeHeld;
    const start: Start = { draft: false, due: "NOW", attempts };
    const [version, key] = [slot.newVersion(), withKey ? this.newKey() : undefined];
    const both = await Promise.all([1, 2].map(() => this.post(slot, version, start, key, !withKey || !isFree)));
    const [one, other] = both;
    if (withKey && one?.id !== other?.id) throw new Error(`Two Tasks of one key: ${one?.id} and ${other?.id}`);
    if (!withKey && isFree && !one && !other) this.steering.say("nothing was started of the two");
    if (withKey || !isFree || !one || !other || one === other) return;
    await this.oneOfTwoLoses(one, other);
  }

  private async oneOfTwoLoses(one: WalkedUpgrade, other: WalkedUpgrade): Promise<void> {
    const lost = async (upgrade: WalkedUpgrade, holder: WalkedUpgrade) => {
      const task = await this.steering.read(upgrade);
      const error = task?.errors?.find(({ errorCode }) => errorCode === "RESOURCE_LOCKED");
      return error !== undefined && JSON.stringify(error).includes(holder.id);
    };
    await until(
      `one of ${one.id} and ${other.id} fails and names the other`,
      async () => (await lost(one, other)) || (await lost(other, one)),
      120,
    );
    if ((await lost(one, other)) && (await lost(other, one)))
      throw new Error(`Both ${one.id} and ${other.id} failed for the other`);
  }
}

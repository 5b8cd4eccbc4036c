import { setTimeout as pauseFor } from "node:timers/promises";
import type { PageOfTask } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import { currentFindings } from "../../../src/domain/task/findings";
import { FollowedTask } from "../../support/followed-task";
import { until } from "../../support/service/deployment";
import type { ApiClient } from "./api-client";
import { deal, draws, type Draws } from "./deck";
import { Holding } from "./holding";
import { short } from "./requests";
import { Starting } from "./starting";
import { Steering, type Environment } from "./steering";
import { drafts, type Due, isFinal, type Phase, type Request } from "./upgrade-model";
import { hostsOf, type WalkedCluster } from "./walk-platform";
import { Slot, type Start, type WalkedUpgrade } from "./walked-upgrade";

/** Commands of an operator, and how often each is in a deck. */
export const commands = {
  startDraft: 2,
  startNow: 2,
  startScheduled: 2,
  startTwiceWithKey: 1,
  startTwiceWithoutKey: 1,
  commit: 2,
  commitTwice: 1,
  commitAndCancel: 1,
  reschedule: 2,
  pause: 3,
  resume: 2,
  cancel: 1,
  retry: 2,
  retryTwice: 1,
  retryAndCancel: 1,
  resolve: 1,
  prechecks: 1,
  skipHost: 2,
  skipCluster: 1,
  acknowledge: 2,
  holdCluster: 1,
  holdHost: 1,
  release: 1,
  afterTheEnd: 2,
  read: 4,
  list: 1,
  follow: 1,
  hostFails: 2,
  checksFail: 1,
} as const;
export type Command = keyof typeof commands;

/** Upgrades that an operator has open at most; then it ends one instead of starting another. */
const mostOpen = 6;
const ends: readonly Phase[] = ["SUCCESSFUL", "SUCCESSFUL_WITH_WARNING", "SKIPPED", "GIVEN_UP", "CANCELLED"];

/**
 * An operator who deals itself commands by its seed and sends them for its own clusters, and compares each answer and
 * each read with the model. A seed fixes the commands and their parameters; which upgrade one is for is the one that it
 * suits most, as far as the operator knows.
 */
export class WalkingOperator {
  readonly slots: readonly Slot[];
  private readonly random: Draws;
  private readonly cards: Generator<Command, never>;
  private readonly followed = new Set<FollowedTask>();
  private readonly steering: Steering;
  private readonly starting: Starting;
  private readonly holding: Holding;

  constructor(
    name: string,
    seed: number,
    private readonly api: ApiClient,
    clusters: readonly WalkedCluster[],
    private readonly around: Environment,
  ) {
    this.slots = clusters.map((cluster) => new Slot(cluster));
    this.steering = new Steering(name, api, around);
    this.starting = new Starting(`${seed}-${name.replaceAll(" ", "-")}`, this.steering);
    this.holding = new Holding(this.steering);
    this.random = draws(seed, `${name} chooses`);
    this.cards = deal(commands, draws(seed, `${name} is dealt`));
  }

  get upgrades(): readonly WalkedUpgrade[] {
    return this.slots.flatMap(({ upgrades }) => upgrades);
  }

  /** Sends commands as long as the walk goes on. */
  async walk(goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      const command = this.cards.next().value;
      this.around.transcript.count("commands", command);
      await this.perform(command);
      await pauseFor(Math.floor(this.random.number() * 250));
    }
  }

  private async perform(command: Command): Promise<void> {
    switch (command) {
      case "startDraft":
        return this.start({ draft: true, due: this.random.one(["NOW", "NOW", "LATER"]), attempts: this.attempts() });
      case "startNow":
        return this.start({ draft: false, due: "NOW", attempts: this.attempts() });
      case "startScheduled":
        return this.start({ draft: false, due: this.random.one(["SOON", "LATER"]), attempts: this.attempts() });
      case "startTwiceWithKey":
        return this.startBoth(true);
      case "startTwiceWithoutKey":
        return this.startBoth(false);
      case "commit":
        return this.ask({ name: "commit", ...this.random.one<{ due?: Due }>([{}, {}, { due: "NOW" }]) }, drafts);
      case "reschedule":
        return this.ask({ name: "commit", due: this.random.one(["SOON", "LATER", "NOW"]) }, ["SCHEDULED", ...drafts]);
      case "commitTwice":
        return this.askTwice({ name: "commit" }, { name: "commit", due: this.random.one(["SOON", "LATER"]) }, drafts);
      case "commitAndCancel":
        return this.askTwice({ name: "commit" }, { name: "cancel" }, drafts);
      case "pause":
        return this.ask({ name: "pause" }, ["RUNNING"]);
      case "resume":
        return this.ask({ name: "resume" }, ["PAUSED"]);
      case "cancel":
        return this.ask({ name: "cancel" }, this.random.one([["RUNNING"], ["PAUSED"], ["SCHEDULED"], drafts]));
      case "retry":
        return this.ask({ name: "retry" }, ["FAILED"]);
      case "retryTwice":
        return this.askTwice({ name: "retry" }, { name: "retry" }, ["FAILED"]);
      case "retryAndCancel":
        return this.askTwice({ name: "retry" }, { name: "cancel" }, ["FAILED"]);
      case "resolve":
        return this.ask({ name: "resolve" }, ["FAILED"]);
      case "prechecks":
        return this.ask({ name: "prechecks" }, drafts);
      case "skipHost":
        return this.skipHost();
      case "skipCluster":
        return this.ask(
          { name: "skipCluster" },
          this.random.one<readonly Phase[]>([["RUNNING"], ["SCHEDULED"], drafts, ["FAILED"], ends]),
        );
      case "acknowledge":
        return this.acknowledge();
      case "holdCluster":
        return this.holding.holdCluster(this.random.one(this.slots));
      case "holdHost":
        return this.holdHost();
      case "release":
        return this.holding.releaseAll(this.slots);
      case "afterTheEnd":
        return this.ask(
          { name: this.random.one(["commit", "pause", "resume", "retry", "resolve", "cancel", "prechecks"]) },
          ends,
        );
      case "read":
        await this.steering.read(this.chosen(["RUNNING", "ACCEPTED", "SCHEDULED", "PAUSED"]));
        return;
      case "list":
        return this.list();
      case "follow":
        return this.follow(this.chosen(["RUNNING", "ACCEPTED"]));
      case "hostFails":
        return this.hostFails(1 + Math.floor(this.random.number() * 3));
      case "checksFail":
        return this.checksFail(this.random.one(this.slots));
    }
  }

  private attempts(): number {
    return this.random.one([1, 1, 3]);
  }

  /** The upgrade that suits most: one that may be in these phases, else one that may be open; of several the seed decides. */
  private chosen(phases: readonly Phase[]): WalkedUpgrade | undefined {
    const draw = this.random.number();
    const suits = (wanted: (phase: Phase) => boolean) =>
      this.upgrades.filter((one) => one.possible.some(({ phase }) => wanted(phase)));
    const [best, rest] = [suits((phase) => phases.includes(phase)), suits((phase) => !ends.includes(phase))];
    const from = best.length > 0 ? best : rest.length > 0 ? rest : this.upgrades;
    return from[Math.floor(draw * from.length)];
  }

  private async start(start: Start): Promise<void> {
    const slot = await this.slotToStart();
    if (!slot) return;
    const key = this.random.number() < 0.6 ? this.starting.newKey() : undefined;
    await this.starting.post(slot, slot.newVersion(), start, key, slot.mayBeHeld);
  }

  private async startBoth(withKey: boolean): Promise<void> {
    const slot = await this.slotToStart();
    if (slot) await this.starting.startTwice(slot, this.attempts(), withKey);
  }

  /** A cluster that nobody holds where there is one; undefined where enough is open, of which one is then ended. */
  private async slotToStart(): Promise<Slot | undefined> {
    const draw = this.random.number();
    const open = this.upgrades.filter(({ possible }) => !isFinal(possible));
    const [oldest] = open;
    if (open.length >= mostOpen && oldest) {
      await this.steering.endOne(oldest);
      return undefined;
    }
    const free = this.slots.filter(({ mayBeHeld }) => !mayBeHeld);
    // Now and then one that is held.
    const from = free.length > 0 && draw < 0.9 ? free : this.slots;
    return from[Math.floor(draw * 1_000) % from.length];
  }

  private async ask(request: Request, phases: readonly Phase[]): Promise<void> {
    const upgrade = this.chosen(phases);
    if (upgrade) await this.steering.ask(upgrade, request);
  }

  private async askTwice(one: Request, other: Request, phases: readonly Phase[]): Promise<void> {
    const upgrade = this.chosen(phases);
    if (upgrade) await this.steering.askBoth(upgrade, one, other);
  }

  private async skipHost(): Promise<void> {
    const phases = this.random.one<readonly Phase[]>([["RUNNING"], ["PAUSED", "SCHEDULED"], drafts, ["FAILED"], ends]);
    const [draw, upgrade] = [this.random.number(), this.chosen(phases)];
    if (!upgrade) return;
    const hosts = hostsOf(upgrade.slot.cluster);
    await this.steering.ask(upgrade, { name: "skip", host: hosts[Math.floor(draw * hosts.length)] ?? "" });
  }

  /**
   * Accepts the first of what the prechecks of an upgrade have found. Where they have found nothing, it asks all the same, and has
   * those of a draft find something for the next time.
   */
  private async acknowledge(): Promise<void> {
    const phases: readonly Phase[] = this.random.one([["DRAFT_REFUSED"], ["DRAFT_REFUSED"], ["FAILED"], ends]);
    const upgrade = this.chosen(phases);
    const task = await this.steering.read(upgrade);
    if (!upgrade || !task) return;
    const open = currentFindings(task).find(({ finding }) => finding.isAcknowledgeable && !finding.acknowledged);
    this.around.transcript.count("acknowledgements", open ? "of a finding" : "of nothing");
    if (open) {
      const { code, hostId, subject } = open.finding;
      const which = { code, ...(hostId !== undefined && { hostId }), ...(subject !== undefined && { subject }) };
      return this.steering.ask(upgrade, { name: "acknowledge", finding: { run: open.run, ...which } });
    }
    await this.steering.ask(upgrade, { name: "acknowledge" });
    if (!upgrade.possible.some(({ phase }) => drafts.includes(phase))) return;
    await this.checksFail(upgrade.slot);
    await this.steering.ask(upgrade, { name: "prechecks" });
  }

  private holdHost(): Promise<void> {
    const slot = this.random.one(this.slots);
    return this.holding.holdHost(slot, this.random.one(hostsOf(slot.cluster)));
  }

  private async list(): Promise<void> {
    const { resourceId } = this.random.one(this.slots).cluster;
    for (const path of ["/v1/upgrades", "/v1/tasks"]) {
      const reply = await this.api.send<PageOfUpgrade & PageOfTask>("GET", `${path}?resourceId=${resourceId}`);
      if (!this.steering.isRead(`GET ${path} of ${resourceId}`, reply)) continue;
      const ids = reply.body?.elements?.map(({ id }) => id) ?? [];
      if (new Set(ids).size !== ids.length) throw new Error(`${path} lists one twice: ${ids.join(", ")}`);
    }
  }

  private async follow(upgrade: WalkedUpgrade | undefined): Promise<void> {
    if (!upgrade) return;
    const followed = new FollowedTask(`${this.api.url}/v1/tasks/${upgrade.id}/events`);
    this.followed.add(followed);
    await until(`events of ${upgrade.id} begin`, () => followed.events.length > 0, 90);
    this.steering.say(`follows ${short(upgrade)}: ${followed.events.join(" ")} ${followed.task?.status}`);
    const [oldest] = this.followed;
    if (oldest && this.followed.size > 3) {
      oldest.close();
      this.followed.delete(oldest);
    }
  }

  private async hostFails(times: number): Promise<void> {
    const upgrade = this.chosen(["RUNNING", "SCHEDULED", "ACCEPTED", ...drafts]);
    const slot = upgrade?.slot ?? this.random.one(this.slots);
    for (const one of slot.upgrades) one.hostFailures += times;
    this.steering.say(`a host of ${slot.cluster.simulated} fails ${times} times`);
    await this.around.faults.add({ kind: "REMEDIATION_FAILS", cluster: slot.cluster.simulated, times });
  }

  private async checksFail(slot: Slot): Promise<void> {
    for (const one of slot.upgrades) one.checkFailures += 1;
    this.steering.say(`a check of ${slot.cluster.simulated} fails`);
    await this.around.faults.add({ kind: "CHECK_FAILS", cluster: slot.cluster.simulated, times: 1 });
  }

  /** Ends the streams of events that it follows. */
  close(): void {
    for (const followed of this.followed) followed.close();
    this.followed.clear();
  }

  /** Brings all that was accepted to its end, all at the same time: a scheduled one waits for the one that has its cluster. */
  async endAll(): Promise<void> {
    this.close();
    await this.holding.releaseAll(this.slots);
    await Promise.all(this.upgrades.map((upgrade) => this.steering.end(upgrade)));
  }
}

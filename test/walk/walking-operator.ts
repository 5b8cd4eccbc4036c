import { setTimeout as pauseFor } from "node:timers/promises";
import type { PageOfTask, Task } from "../../src/domain/task";
import type { PageOfUpgrade, Upgrade } from "../../src/domain/upgrade";
import { pause, until } from "../system/deployment";
import { FollowedTask } from "../support/followed-task";
import { ApiClient, type Reply } from "./api-client";
import { deal, draws, type Draws } from "./deck";
import { nameOf, type Disturbances } from "./disturbances";
import type { SimulatedFaults } from "./simulated-faults";
import type { Transcript } from "./transcript";
import {
  after,
  afterBoth,
  inWords,
  isFinal,
  seen,
  type Answered,
  type Due,
  type Phase,
  type Request,
} from "./upgrade-model";
import { bundleOf, type WalkedCluster } from "./walk-platform";
import { Slot, WalkedUpgrade, type Start } from "./walked-upgrade";

/** Commands of an operator, and how often each is in a deck. */
export const commands = {
  startDraft: 4,
  startNow: 4,
  startScheduled: 3,
  startTwiceWithKey: 2,
  startTwiceWithoutKey: 2,
  commit: 4,
  commitTwice: 2,
  commitAndCancel: 1,
  reschedule: 3,
  pause: 5,
  resume: 4,
  cancel: 2,
  retry: 4,
  retryTwice: 1,
  retryAndCancel: 2,
  resolve: 1,
  prechecks: 2,
  afterTheEnd: 4,
  read: 8,
  list: 2,
  follow: 2,
  hostFails: 4,
  checksFail: 1,
} as const;
export type Command = keyof typeof commands;

/** Upgrades that an operator has open at most; then it ends one instead of starting another. */
const mostOpen = 6;
const drafts: readonly Phase[] = ["DRAFT_READY", "DRAFT_CHECKING", "DRAFT_REFUSED"];
const ends: readonly Phase[] = ["SUCCESSFUL", "SKIPPED", "GIVEN_UP", "CANCELLED"];

/** What all operators of a walk share. */
export interface Surroundings {
  readonly transcript: Transcript;
  readonly disturbances: Disturbances;
  readonly faults: SimulatedFaults;
  /** Is told of each upgrade that is accepted. */
  readonly onAccepted: (id: string) => void;
}

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
  private keys = 0;

  constructor(
    readonly name: string,
    private readonly seed: number,
    private readonly api: ApiClient,
    clusters: readonly WalkedCluster[],
    private readonly around: Surroundings,
  ) {
    this.slots = clusters.map((cluster) => new Slot(cluster));
    this.random = draws(seed, `${name} chooses`);
    this.cards = deal(commands, draws(seed, `${name} is dealt`));
  }

  get upgrades(): readonly WalkedUpgrade[] {
    return this.slots.flatMap(({ upgrades }) => upgrades);
  }

  /** Sends commands until a time, in epoch milliseconds. */
  async walk(end: number, isOver: () => boolean): Promise<void> {
    while (Date.now() < end && !isOver()) {
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
        return this.startTwice(true);
      case "startTwiceWithoutKey":
        return this.startTwice(false);
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
      case "afterTheEnd":
        return this.ask(
          { name: this.random.one(["commit", "pause", "resume", "retry", "resolve", "cancel", "prechecks"]) },
          ends,
        );
      case "read":
        await this.read(this.chosen(["RUNNING", "ACCEPTED", "SCHEDULED", "PAUSED"]));
        return;
      case "list":
        return this.list();
      case "follow":
        return this.follow(this.chosen(["RUNNING", "ACCEPTED"]));
      case "hostFails":
        return this.hostFails(1 + Math.floor(this.random.number() * 3));
      case "checksFail":
        return this.checksFail();
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

  private say(what: string): void {
    this.around.transcript.say(this.name, what);
  }

  private heard<B>(what: string, { answer, since }: Reply<B>): Answered | undefined {
    const name = nameOf(answer);
    this.around.transcript.count("answers", name);
    this.say(`${what} -> ${name}${answer?.state === undefined ? "" : ` (${answer.state})`}`);
    return this.around.disturbances.saysNothing(answer, since) ? undefined : answer;
  }

  private async start(start: Start): Promise<void> {
    const slot = await this.slotToStart();
    if (!slot) return;
    const key = this.random.number() < 0.6 ? this.newKey() : undefined;
    await this.post(slot, slot.newVersion(), start, key, slot.mayBeHeld);
  }

  /** A cluster that nobody holds where there is one; undefined where enough is open, of which one is then ended. */
  private async slotToStart(): Promise<Slot | undefined> {
    const draw = this.random.number();
    const open = this.upgrades.filter(({ possible }) => !isFinal(possible));
    const [oldest] = open;
    if (open.length >= mostOpen && oldest) {
      await this.endOne(oldest);
      return undefined;
    }
    const free = this.slots.filter(({ mayBeHeld }) => !mayBeHeld);
    // Now and then one that is held.
    const from = free.length > 0 && draw < 0.9 ? free : this.slots;
    return from[Math.floor(draw * 1_000) % from.length];
  }

  private newKey(): string {
    return `${this.seed}-${this.name}-${this.keys++}`.replaceAll(" ", "-");
  }

  /** Sends a POST, with a key again until it is answered; gives the upgrade where one was accepted. */
  private async post(
    slot: Slot,
    version: number,
    start: Start,
    key: string | undefined,
    mayBeHeld: boolean,
  ): Promise<WalkedUpgrade | undefined> {
    const spec = specOf(slot.cluster, version, start);
    const what = `POST ${slot.cluster.simulated} ${start.draft ? "draft " : ""}${start.due} 9.0.${version}${key ? " with key" : ""}`;
    const known = new Set(slot.upgrades.map(({ id }) => id));
    const armed = await this.around.faults.left(slot.cluster.simulated);
    const accepted = (id: string) => this.accepted(id, slot, version, start, armed);
    for (;;) {
      const reply = await this.api.send<Task>("POST", "/v1/upgrades", spec, key);
      const answer = this.heard(what, reply);
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
      const { answer, body } = await this.api.send<PageOfUpgrade>("GET", path);
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
    this.around.onAccepted(id);
    return upgrade;
  }

  /** The same POST twice at once: with a key one Task, without one a single upgrade gets the cluster. */
  private async startTwice(withKey: boolean): Promise<void> {
    const slot = await this.slotToStart();
    if (!slot) return;
    const isFree = !slot.mayBeHeld;
    const start: Start = { draft: false, due: "NOW", attempts: this.attempts() };
    const [version, key] = [slot.newVersion(), withKey ? this.newKey() : undefined];
    const both = await Promise.all([1, 2].map(() => this.post(slot, version, start, key, !withKey || !isFree)));
    const [one, other] = both;
    if (withKey && one?.id !== other?.id) throw new Error(`Two Tasks of one key: ${one?.id} and ${other?.id}`);
    if (!withKey && isFree && !one && !other) this.say("nothing was started of the two");
    if (withKey || !isFree || !one || !other || one === other) return;
    await this.oneOfTwoLoses(one, other);
  }

  private async oneOfTwoLoses(one: WalkedUpgrade, other: WalkedUpgrade): Promise<void> {
    const lost = async (upgrade: WalkedUpgrade, holder: WalkedUpgrade) => {
      const task = await this.read(upgrade);
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

  private async ask(request: Request, phases: readonly Phase[]): Promise<void> {
    const upgrade = this.chosen(phases);
    if (upgrade) await this.askFor(upgrade, request);
  }

  private async askFor(upgrade: WalkedUpgrade, request: Request): Promise<void> {
    await this.noteFaults(upgrade, request);
    const { reply, answer } = await this.send(upgrade, request);
    const { places, circumstances } = upgrade;
    upgrade.now(after(places, request, answer, circumstances), () =>
      unexplained(upgrade, `${request.name} was answered ${nameOf(reply.answer)}`, reply.body),
    );
    if (answer?.status === 200) this.saw(upgrade, statusesOf(request, reply.body));
  }

  private async askTwice(one: Request, other: Request, phases: readonly Phase[]): Promise<void> {
    const upgrade = this.chosen(phases);
    if (!upgrade) return;
    await this.noteFaults(upgrade, one);
    const { places } = upgrade;
    const [first, second] = await Promise.all([this.send(upgrade, one), this.send(upgrade, other)]);
    const { circumstances } = upgrade;
    upgrade.now(afterBoth(places, [one, first.answer], [other, second.answer], circumstances), () =>
      unexplained(
        upgrade,
        `${one.name} and ${other.name} at once were answered ${nameOf(first.reply.answer)} and ${nameOf(second.reply.answer)}`,
        [first.reply.body, second.reply.body],
      ),
    );
  }

  /** What is begun again may meet the faults that are left. */
  private async noteFaults(upgrade: WalkedUpgrade, { name }: Request): Promise<void> {
    if (!["commit", "retry", "prechecks"].includes(name)) return;
    const left = await this.around.faults.left(upgrade.slot.cluster.simulated);
    upgrade.hostFailures = Math.max(upgrade.hostFailures, left.hosts);
    upgrade.checkFailures = Math.max(upgrade.checkFailures, left.checks);
  }

  private async send(upgrade: WalkedUpgrade, { name, due }: Request) {
    const [method, path, body] = callOf(upgrade.id, name, due);
    const reply = await this.api.send<Upgrade & Task>(method, path, body);
    const answer = this.heard(`${name}${due === undefined ? "" : ` ${due}`} ${short(upgrade)}`, reply);
    return { reply, answer };
  }

  private saw(upgrade: WalkedUpgrade, read: Parameters<typeof seen>[1]): void {
    upgrade.now(seen(upgrade.places, read, upgrade.circumstances), () =>
      unexplained(upgrade, `it reads as ${JSON.stringify(read)}`),
    );
  }

  /** Reads Task and Upgrade; gives the Task where it could be read. */
  async read(upgrade: WalkedUpgrade | undefined): Promise<Task | undefined> {
    if (!upgrade) return undefined;
    const task = await this.api.send<Task>("GET", `/v1/tasks/${upgrade.id}`);
    if (!this.isRead(`GET task ${short(upgrade)} ${task.body?.status}`, task)) return undefined;
    const { status, resolutionStatus } = task.body ?? {};
    this.saw(upgrade, {
      ...(status !== undefined && { task: status }),
      ...(status === "Failed" && resolutionStatus !== undefined && { resolution: resolutionStatus }),
    });
    const read = await this.api.send<Upgrade>("GET", `/v1/upgrades/${upgrade.id}`);
    if (this.isRead(`GET upgrade ${short(upgrade)} ${read.body?.status}`, read))
      this.saw(upgrade, read.body?.status === undefined ? {} : { upgrade: read.body.status });
    return task.body;
  }

  private isRead<B>(what: string, reply: Reply<B>): boolean {
    const answer = this.heard(what, reply);
    if (answer && answer.status !== 200) throw new Error(`${what} was answered ${nameOf(answer)}`);
    return answer !== undefined;
  }

  private async list(): Promise<void> {
    const { resourceId } = this.random.one(this.slots).cluster;
    for (const path of ["/v1/upgrades", "/v1/tasks"]) {
      const reply = await this.api.send<PageOfUpgrade & PageOfTask>("GET", `${path}?resourceId=${resourceId}`);
      if (!this.isRead(`GET ${path} of ${resourceId}`, reply)) continue;
      const ids = reply.body?.elements?.map(({ id }) => id) ?? [];
      if (new Set(ids).size !== ids.length) throw new Error(`${path} lists one twice: ${ids.join(", ")}`);
    }
  }

  private async follow(upgrade: WalkedUpgrade | undefined): Promise<void> {
    if (!upgrade) return;
    const followed = new FollowedTask(`${this.api.url}/v1/tasks/${upgrade.id}/events`);
    this.followed.add(followed);
    await until(`events of ${upgrade.id} begin`, () => followed.events.length > 0, 90);
    this.say(`follows ${short(upgrade)}: ${followed.events.join(" ")} ${followed.task?.status}`);
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
    this.say(`a host of ${slot.cluster.simulated} fails ${times} times`);
    await this.around.faults.add({ kind: "REMEDIATION_FAILS", cluster: slot.cluster.simulated, times });
  }

  private async checksFail(): Promise<void> {
    const slot = this.random.one(this.slots);
    for (const one of slot.upgrades) one.checkFailures += 1;
    this.say(`a check of ${slot.cluster.simulated} fails`);
    await this.around.faults.add({ kind: "CHECK_FAILS", cluster: slot.cluster.simulated, times: 1 });
  }

  /** Brings all that was accepted to its end, a cluster after another at the same time. */
  async endAll(): Promise<void> {
    for (const followed of this.followed) followed.close();
    this.followed.clear();
    await Promise.all(
      this.slots.map(async ({ upgrades }) => {
        for (const upgrade of upgrades.toReversed()) await this.end(upgrade);
      }),
    );
  }

  private async end(upgrade: WalkedUpgrade): Promise<void> {
    let retries = 0;
    await until(
      `upgrade ${upgrade.id} ends`,
      async () => {
        const task = await this.read(upgrade);
        if (!task) return false;
        if (isFinal(upgrade.possible)) return true;
        if (task.status === "Failed" && retries++ < 2 && !upgrade.isOutdated)
          await this.askFor(upgrade, { name: "retry" });
        else await this.endOne(upgrade, task);
        await pause();
        return false;
      },
      150,
    );
    this.around.transcript.count("ends", (await this.read(upgrade))?.status ?? "not read");
  }

  /** Asks for what brings an upgrade nearer to its end, as far as it can be known. */
  private async endOne(upgrade: WalkedUpgrade, task?: Task): Promise<void> {
    const read = task ?? (await this.read(upgrade));
    if (!read) return;
    const may = (...phases: Phase[]) => upgrade.possible.some(({ phase }) => phases.includes(phase));
    if (read.status === "Failed") return this.askFor(upgrade, { name: "resolve" });
    if (may(...drafts)) return this.askFor(upgrade, { name: "cancel" });
    if (read.status === "Pending" && may("SCHEDULED")) return this.askFor(upgrade, { name: "commit", due: "NOW" });
    if (may("PAUSED")) return this.askFor(upgrade, { name: "resume" });
  }
}

function unexplained(upgrade: WalkedUpgrade, what: string, body?: unknown): string {
  const { places, circumstances } = upgrade;
  return [
    `The model does not explain upgrade ${upgrade.id} of ${upgrade.slot.cluster.simulated}: ${what}.`,
    `It takes it to be ${inWords(places, circumstances)}; ${JSON.stringify(circumstances)}.`,
    ...(body === undefined ? [] : [JSON.stringify(body).slice(0, 1_500)]),
  ].join("\n");
}

const short = ({ id, slot }: WalkedUpgrade) => `${slot.cluster.simulated}/${id.slice(0, 8)}`;

function specOf({ resourceId }: WalkedCluster, version: number, { draft, due, attempts }: Start) {
  const action = attempts === 1 ? { action: "FAIL" } : { action: "RETRY", retryCount: attempts - 1, retryDelay: 0 };
  const options = { disableHac: true, disableDpm: true, hostosUpgradeFailureAction: action };
  return {
    ...{ bundleId: bundleOf(version), resourceType: "CLUSTER", draftMode: draft },
    resourceUpgradeSpecs: [{ resourceId, ...timeOf(due), hostosUpgradeOptionsSpec: options }],
  };
}

function timeOf(due: Due): object {
  const inMilliseconds = { SOON: 2_500, LATER: 86_400_000 };
  return due === "NOW"
    ? { upgradeNow: true }
    : { scheduledTimestamp: new Date(Date.now() + inMilliseconds[due]).toISOString() };
}

function callOf(id: string, name: Request["name"], due?: Due): readonly [method: string, path: string, body?: unknown] {
  switch (name) {
    case "commit":
      return ["PATCH", `/v1/upgrades/${id}`, due === undefined ? {} : timeOf(due)];
    case "retry":
      return ["PATCH", `/v1/tasks/${id}`];
    case "cancel":
      return ["DELETE", `/v1/tasks/${id}`];
    default:
      return ["POST", `/v1/upgrades/${id}/${name}`];
  }
}

/** What an answer shows of the upgrade: a retry and a cancellation answer its Task, the others the Upgrade. */
function statusesOf({ name }: Request, body: { readonly status?: string } | undefined): Parameters<typeof seen>[1] {
  if (body?.status === undefined) return {};
  return name === "retry" || name === "cancel" ? { task: body.status } : { upgrade: body.status };
}

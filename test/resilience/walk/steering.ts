import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { pause, until } from "../../support/service/deployment";
import { type Answered, nameOf } from "./answered";
import type { ApiClient, Reply } from "./api-client";
import type { Disturbances } from "./disturbances";
import { callOf, short, statusesOf } from "./requests";
import type { SimulatedFaults } from "./simulated-faults";
import type { Transcript } from "./transcript";
import { after, afterBoth, drafts, inWords, isFinal, type Phase, type Request, seen } from "./upgrade-model";
import type { WalkedUpgrade } from "./walked-upgrade";

/** What all operators of a walk share. */
export interface Environment {
  readonly transcript: Transcript;
  readonly disturbances: Disturbances;
  readonly faults: SimulatedFaults;
  /** Is told of each upgrade that is accepted. */
  readonly onAccepted: (id: string) => void;
}

/** Sends requests to upgrades and reads them, and compares each answer and each read with the model. */
export class Steering {
  constructor(
    private readonly name: string,
    readonly api: ApiClient,
    readonly around: Environment,
  ) {}

  say(what: string): void {
    this.around.transcript.say(this.name, what);
  }

  /** The answer of a reply, without what of it only says that something is away; undefined where that is all. */
  heard<B>(what: string, reply: Reply<B>): Answered | undefined {
    const { answer } = reply;
    this.say(`${what} -> ${nameOf(answer)}${answer?.state === undefined ? "" : ` (${answer.state})`}`);
    return this.besidesDisturbances(reply);
  }

  private besidesDisturbances<B>({ answer, since }: Reply<B>): Answered | undefined {
    this.around.transcript.count("answers", nameOf(answer));
    return this.around.disturbances.besides(answer, since);
  }

  /** Sends a request and takes its answer; throws where the model does not explain it. */
  async ask(upgrade: WalkedUpgrade, request: Request): Promise<void> {
    await this.noteFaults(upgrade, request);
    if (request.name === "skip") upgrade.mayLeaveOut = true;
    const { reply, answer } = await this.send(upgrade, request);
    const { places, circumstances } = upgrade;
    upgrade.now(after(places, request, answer, circumstances), () =>
      unexplained(upgrade, `${request.name} was answered ${nameOf(reply.answer)}`, reply.body),
    );
    if (answer?.status === 200) this.saw(upgrade, statusesOf(request, reply.body));
  }

  /** Sends two requests at the same time. */
  async askBoth(upgrade: WalkedUpgrade, one: Request, other: Request): Promise<void> {
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

  private async send(upgrade: WalkedUpgrade, request: Request) {
    const { name, due } = request;
    const [method, path, body] = callOf(upgrade, request);
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
    const { status, resolutionStatus, errors = [] } = task.body ?? {};
    const codes = errors.map(({ errorCode }) => errorCode).join(", ");
    if (!this.isRead(`GET task ${short(upgrade)}`, task, `${status} ${codes}`)) return undefined;
    // It tells of a time before what is known (spec-gaps.md, asOf).
    if (task.body?.asOf !== undefined && Date.parse(task.body.asOf) < upgrade.knownAt) return undefined;
    this.saw(upgrade, {
      ...(status !== undefined && { task: status }),
      ...(status === "Failed" && resolutionStatus !== undefined && { resolution: resolutionStatus }),
    });
    if (status === "Failed") failedForCauses(upgrade, errors);
    const read = await this.api.send<Upgrade>("GET", `/v1/upgrades/${upgrade.id}`);
    if (this.isRead(`GET upgrade ${short(upgrade)}`, read, read.body?.status))
      this.saw(upgrade, read.body?.status === undefined ? {} : { upgrade: read.body.status });
    return task.body;
  }

  /** Whether a read was answered, and told this; any other status than 200 is a defect. */
  isRead<B>(what: string, reply: Reply<B>, told = ""): boolean {
    this.around.transcript.sayRead(this.name, what, `${nameOf(reply.answer)} ${told}`.trim());
    const answer = this.besidesDisturbances(reply);
    if (answer && answer.status !== 200) throw new Error(`${what} was answered ${nameOf(answer)}`);
    return answer !== undefined;
  }

  /** Brings an upgrade to its end. */
  async end(upgrade: WalkedUpgrade): Promise<void> {
    let retries = 0;
    await until(
      `upgrade ${upgrade.id} ends`,
      async () => {
        const task = await this.read(upgrade);
        if (!task) return false;
        if (isFinal(upgrade.possible)) return true;
        if (task.status === "Failed" && retries++ < 2 && !upgrade.isOutdated)
          await this.ask(upgrade, { name: "retry" });
        else await this.endOne(upgrade, task);
        await pause();
        return false;
      },
      150,
    );
    this.around.transcript.count("ends", (await this.read(upgrade))?.status ?? "not read");
  }

  /** Asks for what brings an upgrade nearer to its end, as far as it can be known. */
  async endOne(upgrade: WalkedUpgrade, task?: Task): Promise<void> {
    const read = task ?? (await this.read(upgrade));
    if (!read) return;
    const may = (...phases: Phase[]) => upgrade.possible.some(({ phase }) => phases.includes(phase));
    if (read.status === "Failed") return this.ask(upgrade, { name: "resolve" });
    if (may(...drafts)) return this.ask(upgrade, { name: "cancel" });
    if (read.status === "Pending" && may("SCHEDULED")) return this.ask(upgrade, { name: "commit", due: "NOW" });
    if (may("PAUSED")) return this.ask(upgrade, { name: "resume" });
  }
}

/** Throws where an upgrade has failed for something that has not happened. */
function failedForCauses(upgrade: WalkedUpgrade, errors: readonly ErrorBody[]): void {
  const unknown = errors.filter((error) => !upgrade.explains(error));
  if (errors.length === 0 || unknown.length > 0)
    throw new Error(unexplained(upgrade, "its failure has no cause that is known", errors));
}

function unexplained(upgrade: WalkedUpgrade, what: string, body?: unknown): string {
  const { places, circumstances } = upgrade;
  return [
    `The model does not explain upgrade ${upgrade.id} of ${upgrade.slot.cluster.simulated}: ${what}.`,
    `It takes it to be ${inWords(places, circumstances)}; ${JSON.stringify(circumstances)}.`,
    ...(body === undefined ? [] : [JSON.stringify(body).slice(0, 1_500)]),
  ].join("\n");
}

import { expect } from "chai";
import type { ServiceUnderTest } from "../../../support/service/service-under-test";
import { until } from "../../../support/service/deployment";
import { Operator } from "../operator";
import { expectNothingLeft, expectOneStory, overlapping } from "../oracle";
import type { Calls, Change } from "./changes";
import { settingsOf } from "./settings-of";

/** When the worker is lost, and what then happens. */
export const moments = {
  /** The change is refused and tried again. */
  "that is refused": "REFUSED",
  /** The change is refused, and the upgrade is cancelled when the worker has been lost. */
  "that is refused, then cancelled": "CANCELLED",
  /** Another operation keeps the change from being made, and the upgrade is cancelled. */
  "that waits for another operation, then cancelled": "BUSY",
} as const;
export type Moment = (typeof moments)[keyof typeof moments];

/** How a worker is lost, by its process id; resolves when it is, with what brings it back. */
export type Loss = (pid: number) => Promise<() => Promise<void>>;

/** Seconds in which a worker that is back tries again, if it does: longer than any of its waits and calls. */
const longestTry = 8;
const often = 1_000_000;
/** What is done once to each host, node and server, whatever happens to workers. */
const once =
  /^(REMEDIATED|REBOOTED|REBOOT_REQUESTED|NSX_NODE_STARTED|MGMT_(STAGE|INSTALL)_REQUESTED|MGMT_SWITCHOVER_STARTED)$/;
/** All calls that change something; those of the change that is tried are among them. */
const allChanges: readonly Calls[] = [
  { method: "PUT", path: "/" },
  ...[
    "action=apply",
    "action=commit",
    "action=stage",
    "action=install",
    "action=start",
    "action=continue",
    "action=upgrade",
    "action=pause",
    "action=cancel",
  ].map((path): Calls => ({ method: "POST", path })),
  { method: "POST", path: "/software/drafts" },
  { path: "_Task" },
  { path: "/sdk/CancelTask" },
];

/** Loses the worker that makes a change, lets another finish the upgrade, brings the first back, and judges what it does. */
export async function runCell(service: ServiceUnderTest, change: Change, moment: Moment, lose: Loss): Promise<void> {
  const operator = new Operator(service);
  await service.resetSimulator();
  const before = await settingsOf(service);
  const faults = new Faults(service);
  const isBusy = moment === "BUSY";
  const from = isBusy ? change.busy?.from : change.from;
  const holdUp = () =>
    faults.add(
      isBusy
        ? { kind: "OPERATION_IN_PROGRESS", cluster: change.busy?.cluster }
        : { kind: "SERVICE_UNAVAILABLE", ...change.call },
    );

  if (from === undefined) await holdUp();
  const { id } = await service.startUpgrade(change.spec);
  if (from !== undefined) {
    await operator.ledgerHas(from);
    await holdUp();
  }
  if (change.byCancelling) await operator.cancel(id);
  await until(`it is held up while it ${change.name}`, async () => (await faults.uses()) > 0);
  const pid = await runnerOf(service, change);
  const known = lossesKnown(service);
  const bringBack = await lose(pid);
  try {
    const cancels = moment === "CANCELLED" || isBusy;
    const ends = change.byCancelling || cancels ? "Cancelled" : "Successful";
    if (cancels) await operator.cancel(id);
    // Only then is what it tries possible again: until then the change may still be its own.
    await untilReplaced(service, change, pid);
    await faults.remove();
    const ended = await service.taskWhen(id, "has ended", ({ status }) => !/Pending|In Progress/.test(status), 90);
    expect(ended.status, JSON.stringify(ended.errors)).to.equal(ends);
    const judge = async () => {
      expect(await settingsOf(service), "settings, maintenance mode, VMs and plan").to.deep.equal(before);
      await expectNothingLeft(service);
    };
    await judge();
    const ledger = await service.ledger();
    expectOnce(ledger);
    if (ends === "Successful" || change.byCancelling) {
      const [step, times] = change.leaves;
      expect(ledger.filter((entry) => entry.step === step).length, step).to.equal(times);
    }

    for (const calls of allChanges) await faults.add({ kind: "SLOW", milliseconds: 0, ...calls });
    await bringBack();
    // Or it finds everything done, and ends without a word.
    await until(
      "the lost worker knows that the work is not its own",
      async () => lossesKnown(service) > known || (await faults.uses()) > 0,
      longestTry,
    ).catch(() => undefined);
    expect(await faults.used(), "changes that the lost worker has asked for").to.deep.equal([]);
    await judge();
    expect((await service.ledger()).slice(ledger.length), "what it has done").to.deep.equal([]);
    await expectOneStory(service, [ended]);
  } finally {
    await bringBack();
    await faults.remove();
  }
}

/** The process that runs the Activity of the change. */
async function runnerOf(service: ServiceUnderTest, change: Change): Promise<number> {
  const pids = await runners(service, change);
  expect(pids, `workers that run ${change.activity}`).to.have.length(1);
  return pids[0] ?? 0;
}

async function runners(service: ServiceUnderTest, { activity, workflow }: Change): Promise<number[]> {
  const { raw } = await service.withTemporal((client) => client.workflow.getHandle(workflow).describe());
  return (raw.pendingActivities ?? [])
    .filter(({ activityType }) => activityType?.name === activity)
    .map(({ lastWorkerIdentity }) => parseInt(lastWorkerIdentity ?? ""));
}

/** Until Temporal has given the Activity of the lost worker up. */
function untilReplaced(service: ServiceUnderTest, change: Change, lost: number): Promise<void> {
  return until("Temporal has missed the worker", async () =>
    runners(service, change).then(
      (pids) => !pids.includes(lost),
      () => true,
    ),
  );
}

function expectOnce(ledger: readonly { readonly step: string; readonly host?: string }[]): void {
  const done = ledger.filter(({ step }) => once.test(step)).map(({ step, host = "" }) => `${step} ${host}`);
  expect(done, "what was done, each once").to.deep.equal([...new Set(done)]);
  expect(overlapping(ledger), "remediations that began before the one before had ended").to.deep.equal([]);
}

/** How often workers have said that they have lost an Activity. */
function lossesKnown(service: ServiceUnderTest): number {
  return service.log("worker").filter(({ msg }) => msg.startsWith("Temporal ended this run of the Activity")).length;
}

interface FaultView {
  readonly kind: string;
  readonly path?: string;
  readonly remaining: number;
}

/** The faults of a cell, which say how often they were met. */
class Faults {
  readonly #url: string;

  constructor(private readonly service: ServiceUnderTest) {
    this.#url = `${service.simulatorUrl}/simulator/faults`;
  }

  add(fault: Record<string, unknown>): Promise<void> {
    return this.service.fault({ ...fault, times: often });
  }

  async remove(): Promise<void> {
    await fetch(this.#url, { method: "DELETE" });
  }

  async used(): Promise<string[]> {
    const faults = (await (await fetch(this.#url)).json()) as FaultView[];
    return faults
      .filter(({ remaining }) => remaining < often)
      .map(({ path, kind, remaining }) => `${path ?? kind}: ${often - remaining}`);
  }

  async uses(): Promise<number> {
    const faults = (await (await fetch(this.#url)).json()) as FaultView[];
    return faults.reduce((sum, { remaining }) => sum + often - remaining, 0);
  }
}

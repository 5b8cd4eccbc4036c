import type { ReportedCode } from "../../../src/domain/errors";
import { DriverError, isAnsweredForNow, isBusy, isNotFound } from "../../drivers/driver-error";
import { reasonsOfFault } from "../../drivers/vim25/soap";
import { endedByOutage, hasEnded, type Vim25Host } from "../../drivers/vim25/vim25-models";
import { UncertainChanges } from "../../uncertain-changes";
import { hostFailure, noTrace } from "../remediation-errors";
import { type BaselineContext, connectedHost, isOf, type Operation, runningTask } from "./baseline-context";
import { followHostTask, requestCancel } from "./follow-host-task";

/** Requests that may come to nothing before that is an error. */
const maximumRequests = 5;

/** One change of a host that a task of the component manager makes. */
export interface HostStep {
  readonly operation: Operation;
  /** What happens, as a sentence without its full stop. */
  readonly activity: string;
  /** Goes on after the host's name where the task fails or does not get on. */
  readonly failed: string;
  readonly stalled: string;
  /** The code of such a failure; by default that the remediation failed or stalled. */
  readonly code?: ReportedCode;
  /** Whether the end of the task is all there is to wait for. */
  readonly endsWithTask?: boolean;
  isDone(host: Vim25Host): boolean;
  /** The host where being away does not keep it from being looked at; by default it is waited for. */
  look?(): Promise<Vim25Host>;
  request(): Promise<string>;
  /** What else changes while the task gets on. */
  signsOfLife?(): Promise<unknown>;
}

/**
 * Brings a change of a host about once, from wherever it stands: looks whether it is so already, attaches to the task
 * that is at it, and only then asks for it. After anything that leaves open whether a request arrived it looks again.
 * Throws HostFailure where the component manager reports that it failed or made no progress.
 */
export async function ensureHostStep(context: BaselineContext, step: HostStep): Promise<void> {
  const { client, retryPolicy, progress, limits } = context;
  const look = () => (step.look ? step.look() : connectedHost(context));
  const uncertain = new UncertainChanges<"busy" | "unanswered" | "outage">(retryPolicy.clock);
  let requests = 0;
  if ((await dropOtherTask(context, step.operation)) === "FORGOTTEN" && (await settle())) return;

  for (let round = 0; ; round++) {
    const host = await look();
    if (step.isDone(host)) return;
    const task = progress.current.remoteTask ?? runningTask(host, step.operation) ?? (await request());
    if (task === undefined) {
      await retryPolicy.pause(round);
      continue;
    }
    progress.attach(task);
    if (await followToTheEnd(task, round)) return;

    async function request(): Promise<string | undefined> {
      if (++requests > maximumRequests) throw noTrace(context.host.fqdn, maximumRequests);
      await intend(context);
      try {
        // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
        return await retryPolicy.once(() => step.request());
      } catch (error) {
        if (!(error instanceof DriverError)) throw error;
        if (error.kind === "permanent") {
          // What a lost request has already brought about is refused a second time.
          if (step.isDone(await look())) return undefined;
          throw error;
        }
        progress.note(`Waiting: ${error.message}`);
        if (isAnsweredForNow(error)) requests--;
        if (isBusy(error)) {
          // What keeps the host busy may well be our own request, whose task was forgotten.
          uncertain.giveUpAfter("busy", Math.max(limits.stall, limits.operationBusy), error);
        } else if (error.kind === "transient") uncertain.giveUpAfter("unanswered", limits.outage, error);
        return undefined;
      }
    }
  }

  /** True where the change is made; false where it has to be looked for again. */
  async function followToTheEnd(task: string, round: number): Promise<boolean> {
    const note = (percent: number | undefined) => progress.note(`${step.activity}.`, percent);
    const options = { client, retryPolicy, task, onProgress: note };
    const life = step.signsOfLife && { signsOfLife: step.signsOfLife.bind(step) };
    let followed = await followHostTask({ ...options, ...life, stall: limits.stall });
    const stalled = followed.end === "STALLED";
    if (stalled) {
      progress.note("No progress for too long: cancelling the task.");
      await requestCancel(context, task);
      followed = await followHostTask({ ...options, stall: Math.min(limits.stall, limits.operationBusy) });
    }
    progress.detach();
    // What it does goes on, and asking again at its very end would do it twice.
    if (followed.end === "FORGOTTEN") return settle();
    if (followed.end === "ENDED" && !followed.task.error) {
      return step.endsWithTask === true || (await settle());
    }
    if (step.isDone(await look())) return true;
    if (!stalled && endedByOutage(followed.task) && !uncertain.hasLasted("outage", limits.outage)) {
      const [reason] = followed.task.error ? reasonsOfFault(followed.task.error) : [];
      progress.note(`Waiting: the task ended without a result${reason ? `: ${reason}` : "."}`);
      requests--;
      // The host may be at it all the same.
      if (await settle()) return true;
      await retryPolicy.pause(round);
      return false;
    }
    if (stalled) throw hostFailure(step.code ?? "HOST_REMEDIATION_STALLED", step.stalled);
    const { error } = followed.task;
    throw hostFailure(step.code ?? "HOST_REMEDIATION_FAILED", step.failed, error ? reasonsOfFault(error) : []);
  }

  /** Waits until the host shows what the task has done. */
  async function settle(): Promise<boolean> {
    const began = retryPolicy.clock.now();
    for (let round = 0; retryPolicy.clock.now() - began < limits.settle; round++) {
      if (step.isDone(await look())) return true;
      await retryPolicy.pause(round);
    }
    return false;
  }
}

/** Before anything is changed: whatever becomes of it, the next run knows from when on tasks are of this attempt. */
export async function intend({ client, retryPolicy, progress }: BaselineContext): Promise<void> {
  if (progress.current.requestedAt !== undefined) return;
  progress.intend(Date.parse(await retryPolicy.retry(() => client.readTime())));
}

/** Detaches from a task of another step, which an earlier run was following and which has ended since. */
async function dropOtherTask(
  { client, retryPolicy, progress }: BaselineContext,
  operation: Operation,
): Promise<"FORGOTTEN" | undefined> {
  const { remoteTask } = progress.current;
  if (remoteTask === undefined) return undefined;
  try {
    const task = await retryPolicy.retry(() => client.readTask(remoteTask));
    if (!isOf(task, operation) || (hasEnded(task) && !task.error)) progress.detach();
    return undefined;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    progress.detach();
    return "FORGOTTEN";
  }
}

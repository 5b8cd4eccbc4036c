import { ApplicationFailure } from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import type { CheckedUpgrade } from "../../activities/contract";
import {
  CheckDecision,
  checkError,
  type CheckPoint,
  type PlannedCheck,
  type ResourceChecksPlan,
} from "../../src/domain/checks/own-check";
import type { ErrorBody } from "../../src/domain/errors";
import type { Closed } from "../../src/domain/opening";
import type { CheckProgress } from "../../src/domain/task/check-stages";
import type { ClusterHost } from "../../src/domain/task/host-remediation";
import { checksAt } from "../../src/domain/task/own-checks";
import { CheckDecisions } from "../check-decisions";
import { currentTime } from "../clock";
import type { InternalSignals } from "../internal-signals";
import { checkAcceptedSignal, checkDecidedSignal, type CheckFailed, checkFailedSignal } from "../messages";
import { askAll, type CheckRound, checksValidFor } from "../own-checks";
import { signalUpgrade } from "./tell-upgrade";

/** How many hosts a check is told of. */
const mostTold = 100;

/** The resource whose checks are asked, as it shows and tells what it waits for. */
interface CheckedResource {
  readonly upgradeId: string;
  readonly resource: CheckedUpgrade["resources"][number];
  readonly signals: InternalSignals;
  record(progress: CheckProgress): void;
  closureChanged(closed: Closed | undefined): void;
  /** Waits at the gate of a pause. */
  stay(until: () => boolean): Promise<void>;
}

/**
 * Asks the checks of the inventory that come in the middle of an upgrade, in the Workflow of the resource. One that does not pass
 * keeps the resource waiting, pauses the upgrade, or fails both, as the inventory says.
 */
export class ResourceChecks {
  private readonly decisions = new CheckDecisions();
  /** How many failures were told to the upgrade, and the latest that was accepted. */
  private told = 0;
  private accepted = 0;

  constructor(
    private readonly of: CheckedResource,
    private readonly plan: ResourceChecksPlan | undefined,
  ) {
    if (!plan) return;
    of.signals.on(checkDecidedSignal, (payload) => {
      const decision = CheckDecision.decode(payload);
      if (isRight(decision)) this.decisions.decided(decision.right);
    });
    of.signals.on(checkAcceptedSignal, (number) => {
      if (typeof number === "number") this.accepted = Math.max(this.accepted, number);
    });
  }

  /** Whether there are checks at a point. */
  has(point: CheckPoint): boolean {
    return checksAt(this.plan?.checks, point).length > 0;
  }

  /**
   * Asks those of a point, one after another. `hosts`: those that it is about now. Gives until when what they said lets something
   * begin (epoch milliseconds), which is the past where hosts have been left out meanwhile. Throws where one fails the upgrade.
   */
  async pass(point: CheckPoint, hosts?: () => readonly ClusterHost[]): Promise<number> {
    const { plan, of } = this;
    if (!plan || !this.has(point)) return Infinity;
    const about = hosts?.();
    if (about?.length === 0) return Infinity;
    const named = about?.slice(0, mostTold).map(({ host: hostId, fqdn: name }) => ({ hostId, name }));
    const resource = { ...of.resource, ...(named && { hosts: named }) };
    const round: CheckRound = {
      at: point,
      asker: of.resource.resourceId,
      upgrade: { id: of.upgradeId, name: plan.upgradeName, bundleId: plan.bundleId, resources: [resource] },
      decisions: this.decisions,
      asked: (check, text) => of.record({ type: "CheckAsked", check, point, ...(text !== undefined && { text }) }),
      waits: (message) => this.waits(message),
      isOther: () => hosts?.().length !== about?.length,
    };
    const isPassed = await askAll(checksAt(plan.checks, point), round, async (check, answer) => {
      of.record({ type: "CheckAnswered", check, point, answer });
      if (answer.verdict !== "PASSED") await this.failed(check, checkError(check, answer));
      return true;
    });
    return isPassed ? currentTime() + checksValidFor : 0;
  }

  private isWaiting = false;

  private waits(message: string | undefined): void {
    if (message === undefined && !this.isWaiting) return;
    this.isWaiting = message !== undefined;
    this.of.closureChanged(message === undefined ? undefined : { code: "CHECK", message });
  }

  /** Has the upgrade paused, and waits until whoever resumes it accepts that; or fails. */
  private async failed({ onFailure }: PlannedCheck, error: ErrorBody): Promise<void> {
    const { resourceId } = this.of.resource;
    const number = ++this.told;
    const failed: CheckFailed = { resourceId, number, onFailure: onFailure === "FAIL" ? "FAIL" : "PAUSE", error };
    // Where the upgrade cannot be told, the resource fails: nobody could accept it, and what waits would begin.
    await signalUpgrade(checkFailedSignal, failed);
    if (onFailure === "FAIL") throw ApplicationFailure.nonRetryable(error.message, error.errorCode, { error });
    await this.of.stay(() => this.accepted >= number);
  }
}

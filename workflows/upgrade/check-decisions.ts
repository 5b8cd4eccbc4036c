import { condition, log } from "@temporalio/workflow";
import type { CheckDecision } from "../../src/domain/checks/own-check";

/** Decisions of webhooks that had answered 202. Only the ask in work is decided; others are of no use any more. */
export class CheckDecisions {
  private askId: string | undefined;
  private decision: CheckDecision | undefined;

  /** From here on this ask may be decided, also before its answer 202 is known. */
  expect(askId: string): void {
    this.askId = askId;
    this.decision = undefined;
  }

  decided(decision: CheckDecision): void {
    // The first one counts.
    if (decision.askId === this.askId) this.decision ??= decision;
    else
      log.warn("A decision of a check was dropped: that ask is not in work", { askId: decision.askId.slice(0, 100) });
  }

  /** The decision; undefined where there is none in time. */
  async untilDecided(milliseconds: number, summary: string): Promise<CheckDecision | undefined> {
    await condition(() => this.decision !== undefined, milliseconds, { summary });
    return this.decision;
  }
}

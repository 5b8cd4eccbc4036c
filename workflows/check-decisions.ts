import { condition } from "@temporalio/workflow";
import type { CheckDecision } from "../src/domain/checks/own-check";

/** Decisions of webhooks that had answered 202. Only the ask in work is decided; others are of no use any more. */
export class CheckDecisions {
  private askId: string | undefined;
  private decision: CheckDecision | undefined;

  /** From here on this ask may be decided, also before its answer 202 is known. */
  expect(askId: string): void {
    this.askId = askId;
    this.decision = undefined;
  }

  /** False where another ask is in work, or none. */
  decided(decision: CheckDecision): boolean {
    if (decision.askId !== this.askId) return false;
    // The first one counts.
    this.decision ??= decision;
    return true;
  }

  /** The decision; undefined where there is none in time. */
  async untilDecided(milliseconds: number, summary: string): Promise<CheckDecision | undefined> {
    await condition(() => this.decision !== undefined, milliseconds, { summary });
    return this.decision;
  }
}

import type { HistoryLength, RecordPayload } from "../domain/requests/upgrade-request";
import type { RefusedRequest } from "../upgrades/ports";

/** How long the same refusal is not recorded again (milliseconds). */
const interval = 10 * 60_000;

/** A history with more events takes no refusal any more: it holds 51,200, and a run 10,000 Signals. */
const longestHistory = 10_000;

/** How many refusals are remembered; those that were sent first go. */
const remembered = 10_000;

/** The longest message that is sent, in UTF-16 units. */
const longestMessage = 500;

/**
 * Tells upgrades which requests the API has refused without asking them, for their activity logs. Temporal keeps each
 * Signal, so a caller who repeats a request gets one into the history every ten minutes, and none into a long history. Never
 * rejects: the caller is told the refusal, whether it is recorded or not.
 */
export class RefusalRecorder {
  /** When a refusal was sent last (epoch milliseconds), in that order. */
  private readonly sent = new Map<string, number>();

  constructor(
    private readonly signal: (id: string, payload: RecordPayload) => Promise<unknown>,
    private readonly now: () => number = Date.now,
  ) {}

  /** `history`: of the upgrade's Workflow. */
  async record(id: string, { reason, ...asked }: RefusedRequest, history: HistoryLength): Promise<void> {
    const { errorCode = "REQUEST_NOT_POSSIBLE", message } = reason;
    const key = JSON.stringify([id, asked.requestedBy, asked.request, errorCode]);
    const now = this.now();
    if (history.events > longestHistory || now - (this.sent.get(key) ?? -Infinity) < interval) return;
    this.sent.delete(key);
    this.sent.set(key, now);
    const [oldest] = this.sent.keys();
    if (this.sent.size > remembered && oldest !== undefined) this.sent.delete(oldest);
    try {
      await this.signal(id, {
        ...asked,
        via: "HTTP",
        reason: { errorCode, message: message.slice(0, longestMessage) },
      });
    } catch {
      this.sent.delete(key);
    }
  }
}

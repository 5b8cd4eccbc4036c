import { condition } from "@temporalio/workflow";
import type { InternalSignals } from "../internal-signals";
import { pausedSignal } from "../messages";

/** Whether the upgrade of a resource is paused, as its own Workflow knows it. */
export class PauseGate {
  private paused = false;
  private waiting = 0;
  /** Called where something waits at the gate. */
  onReached: () => void = () => undefined;

  /** From here on it knows; `onChange` is told of every change, also of one that has come before. It shows it. */
  listen(signals: InternalSignals, onChange: (paused: boolean) => void): void {
    signals.on(pausedSignal, (payload) => {
      if (typeof payload !== "boolean" || payload === this.paused) return;
      this.paused = payload;
      onChange(payload);
    });
  }

  get closed(): boolean {
    return this.paused;
  }

  /** Whether the resource waits here. */
  get isReached(): boolean {
    return this.waiting > 0;
  }

  /** Where something new would start: waits until the upgrade is not paused. Ends early where it is cancelled. */
  async pass(): Promise<void> {
    while (this.paused) await this.stay(() => !this.paused);
  }

  /** Waits here for something that comes with the end of a pause. */
  async stay(until: () => boolean): Promise<void> {
    this.waiting += 1;
    this.onReached();
    try {
      await condition(until);
    } finally {
      this.waiting -= 1;
    }
  }
}

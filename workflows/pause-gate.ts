import { condition, setHandler } from "@temporalio/workflow";
import { pausedSignal } from "./messages";

/** Whether the upgrade of a resource is paused, as its own Workflow knows it. */
export class PauseGate {
  private paused = false;

  /** From here on it knows; `onChange` is told of every change, also of one that has come before. It shows it. */
  listen(onChange: (paused: boolean) => void): void {
    setHandler(pausedSignal, (payload) => {
      if (typeof payload !== "boolean" || payload === this.paused) return;
      this.paused = payload;
      onChange(payload);
    });
  }

  get closed(): boolean {
    return this.paused;
  }

  /** Where something new would start: waits until the upgrade is not paused. Ends early where it is cancelled. */
  async pass(): Promise<void> {
    while (this.paused) await condition(() => !this.paused);
  }
}

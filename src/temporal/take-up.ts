import type { Client } from "@temporalio/client";
import { upgradeQuery } from "../../workflows/messages";
import type { Timers } from "../upgrades/ports";

interface Start {
  readonly id: string;
  readonly tell: () => void;
}

/**
 * Tells when workers have come to upgrades that were started, by one Query at a time: workers take them in turn, so
 * that the newest answers for all that were started before it, and the Query takes as long as an operator's request.
 */
export class TakeUp {
  private waiting: Start[] = [];
  private isAsking = false;

  constructor(
    private readonly client: Client,
    private readonly timers: Timers,
    /** How long one waits at most, in milliseconds: without a worker upgrades can be started all the same. */
    private readonly patience: number,
  ) {}

  /** Resolves when a worker has come to the upgrade, or has not in time; never rejects. */
  readonly of = (id: string): Promise<void> =>
    new Promise((resolve) => {
      const endPatience = this.timers.after(this.patience, resolve);
      const tell = () => {
        endPatience();
        resolve();
      };
      this.waiting.push({ id, tell });
      if (!this.isAsking) void this.ask();
    });

  private async ask(): Promise<void> {
    this.isAsking = true;
    while (this.waiting.length > 0) {
      const asked = this.waiting;
      this.waiting = [];
      const handle = this.client.workflow.getHandle(asked.at(-1)?.id ?? "");
      // What fails, as without a worker, says nothing of how long others would take.
      await this.client
        .withDeadline(Date.now() + this.patience, () => handle.query(upgradeQuery))
        .catch(() => undefined);
      for (const { tell } of asked) tell();
    }
    this.isAsking = false;
  }
}

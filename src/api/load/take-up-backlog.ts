interface TakeUpBacklogOptions {
  /** So many upgrades may be started at once without waiting for a worker, as scripts do. */
  readonly burst: number;
  readonly takenUp: TakenUp;
}

/** Resolves when a worker has come to the upgrade that was started, or that takes too long; never rejects. */
export type TakenUp = (upgradeId: string) => Promise<void>;

/**
 * Upgrades that were started and to which no worker has come yet. A burst of them may be there at any time; beyond that, and
 * until workers have come to all, each start keeps its place (docs/decisions/0023).
 */
export class TakeUpBacklog {
  private waiting = 0;
  /** More came than a burst, and workers have not come to all of it since. */
  private isFlooded = false;

  constructor(private readonly options: TakeUpBacklogOptions) {}

  /** What the start of this upgrade keeps its place for; undefined where nothing. */
  readonly after = (upgradeId: string): Promise<void> | undefined => {
    this.waiting += 1;
    if (this.waiting > this.options.burst) this.isFlooded = true;
    const takenUp = this.options.takenUp(upgradeId).finally(() => {
      this.waiting -= 1;
      if (this.waiting === 0) this.isFlooded = false;
    });
    return this.isFlooded ? takenUp : undefined;
  };
}

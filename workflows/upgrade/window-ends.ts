import { condition } from "@temporalio/workflow";
import { windowEnd } from "../../src/domain/upgrade/upgrade-facts";
import { currentTime } from "../clock";
import type { UpgradeState } from "./upgrade-state";

/** How long before its end receivers are told that a maintenance window closes (milliseconds). */
const lead = 30 * 60_000;

/**
 * Tells receivers of an upgrade, once for each window, that the window closes in which it works: what has not begun by then
 * waits for the next one. Without receivers that want to know, it does nothing.
 */
export class WindowEnds {
  /** Ends the watch; to be awaited before the Workflow ends. */
  readonly stop: () => Promise<void>;
  /** The last end that receivers were told of, or that is past (epoch milliseconds). */
  private seen: number | undefined;

  constructor(private readonly state: UpgradeState) {
    this.stop = state.notices.watchFor("upgrade.window.ending", () => this.run());
  }

  private async run(): Promise<never> {
    for (;;) {
      await condition(() => this.next !== undefined);
      const closes = this.next;
      if (closes === undefined) continue;
      const rest = closes - lead - currentTime();
      const summary = "until the maintenance window is about to close";
      if (rest > 0 && (await condition(() => this.next !== closes, rest, { summary }))) continue;
      this.seen = closes;
      if (closes > currentTime()) this.state.notifier.windowEnds(closes);
    }
  }

  /** When the window closes that the upgrade works in, unless receivers know; undefined where none does. */
  private get next(): number | undefined {
    const { known, paused, cancelling } = this.state;
    const end = paused || cancelling ? undefined : windowEnd(known.facts);
    return end === this.seen ? undefined : end;
  }
}

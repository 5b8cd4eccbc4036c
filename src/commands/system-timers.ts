import type { Timers } from "../upgrades/ports";

/** Time as it passes for this process, which it does not keep from ending. */
export const systemTimers: Timers = {
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

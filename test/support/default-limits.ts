import { isLeft } from "fp-ts/Either";
import type { ActivityLimits } from "../../activities/activity-limits";
import { monotonicClock } from "../../src/clock";
import { readConfig } from "../../src/config";

const config = readConfig({});
if (isLeft(config)) throw new Error(config.left.join("\n"));

/** The limits of a worker that is told no others. */
export const defaultActivityLimits: ActivityLimits = { ...config.right.timeLimits, clock: monotonicClock };

import { Session } from "node:inspector/promises";
import { setTimeout as pause } from "node:timers/promises";

/** When a process counts as idle. */
export interface IdleTimes {
  /** Milliseconds of which each is looked at as a whole. */
  readonly interval: number;
  /** How many of them it has to be idle for, one after another. */
  readonly intervals: number;
}

/** Of a processor, by all threads together. */
const idleBelow = 0.05;

/** Bytes of memory that must have come since the last collection. */
const worthIt = 32 * 2 ** 20;

/** How long threads are waited for, in milliseconds: one that has ended does not answer. */
const longestCollection = 10_000;

/**
 * Collects the garbage of this process and of its threads when it has little to do and its memory has grown. V8 collects while
 * memory is asked for, so what a burst has left would stay for as long as nothing comes (docs/decisions/0035).
 */
export function collectWhenIdle({ interval, intervals }: IdleTimes = { interval: 10_000, intervals: 2 }): void {
  let idleFor = 0;
  let collected = 0;
  let last = { usage: process.cpuUsage(), at: performance.now() };
  setInterval(() => {
    const { user, system } = process.cpuUsage(last.usage);
    const processors = (user + system) / 1000 / (performance.now() - last.at);
    last = { usage: process.cpuUsage(), at: performance.now() };
    idleFor = processors < idleBelow ? idleFor + 1 : 0;
    if (idleFor < intervals || process.memoryUsage.rss() < collected + worthIt) return;
    idleFor = 0;
    // Whatever keeps it from being collected now: it is only memory.
    collectGarbage()
      .catch(() => undefined)
      .finally(() => (collected = process.memoryUsage.rss()));
  }, interval).unref();
}

/** By the protocol of debuggers, which alone reaches the threads of libraries too; no port is opened for it. */
async function collectGarbage(): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    const threads: Promise<void>[] = [];
    session.on("NodeWorker.attachedToWorker", ({ params: { sessionId } }) => {
      const message = JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" });
      threads.push(answerOf(session, sessionId));
      session.post("NodeWorker.sendMessageToWorker", { sessionId, message }).catch(() => undefined);
    });
    await session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
    await session.post("HeapProfiler.collectGarbage");
    await Promise.race([Promise.all(threads), pause(longestCollection, undefined, { ref: false })]);
    await session.post("NodeWorker.disable");
  } finally {
    session.disconnect();
  }
}

function answerOf(session: Session, thread: string): Promise<void> {
  return new Promise((resolve) => {
    session.on("NodeWorker.receivedMessageFromWorker", ({ params: { sessionId } }) => {
      if (sessionId === thread) resolve();
    });
  });
}

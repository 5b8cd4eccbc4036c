import { createParser } from "eventsource-parser";
import type { ErrorBody } from "../../domain/errors";
import { applyTaskEvent, type FollowedTask, nothingKnown } from "../../domain/task/task-change";
import { backOff } from "../model/back-off";
import { openApi } from "./ask-api";
import { ApiFailure, errorBodyOf, retryAfterOf } from "./send-request";

/** The line to the API: LOST is tried again by itself; REFUSED is not, because it would be refused again. */
export type Line =
  | { readonly state: "CONNECTING" | "LIVE" | "ENDED" }
  | { readonly state: "LOST" | "REFUSED"; readonly error: ErrorBody };

interface Listener {
  onTask(followed: FollowedTask): void;
  onLine(line: Line): void;
}

/** Three times the comment that the service sends when there is nothing to tell, by default. */
const silenceMilliseconds = 45_000;

const endOfConnection = new ApiFailure({ message: "The API closed the connection." }, true);

/**
 * Follows a Task by its events until `signal` is aborted. By `fetch`, because an EventSource sends no Authorization
 * header. A lost line is taken up again where it was lost, at once when the browser says that it has a network again; a
 * failed upgrade goes on being followed, it may be retried.
 */
export async function followTask(id: string, listener: Listener, signal: AbortSignal): Promise<void> {
  let known = nothingKnown;
  let lastEventId = "";
  let pauseAfterEnd = 2000;
  let failures = 0;
  const connect = async () => {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), silenceMilliseconds);
    try {
      const response = await openApi({
        path: `/v1/tasks/${id}/events`,
        headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
        signal: AbortSignal.any([signal, silence.signal]),
        goesOn: true,
      });
      const parser = createParser({
        onRetry: (milliseconds) => (pauseAfterEnd = milliseconds),
        onEvent: (event) => {
          const next = applyTaskEvent(known, event);
          if (next._tag === "Left") {
            known = nothingKnown;
            lastEventId = "";
            throw new ApiFailure({ message: next.left }, true);
          }
          known = next.right;
          lastEventId = event.id ?? lastEventId;
          failures = 0;
          listener.onTask(known);
        },
      });
      listener.onLine({ state: "LIVE" });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMilliseconds);
        parser.feed(chunk.value);
      }
    } finally {
      clearTimeout(timer);
      // Also after an event that could not be understood: nobody reads the rest.
      silence.abort();
    }
  };
  while (!signal.aborted) {
    try {
      await connect();
      if (!known.hasEnded) throw endOfConnection;
      listener.onLine({ state: "ENDED" });
      if (known.task?.status !== "Failed") return;
      await wait(pauseAfterEnd, signal);
    } catch (thrown) {
      if (isOver(signal)) return;
      const refused = thrown instanceof ApiFailure && !thrown.isUnreachable && !isPassing(thrown.body);
      listener.onLine({ state: refused ? "REFUSED" : "LOST", error: errorBodyOf(thrown) });
      if (refused) return;
      failures += 1;
      await wait(backOff(failures, retryAfterOf(thrown)), signal);
    }
  }
}

/** Asked again, because an abort during a wait is not seen by the compiler. */
function isOver(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Whether an answer says that it may be another one soon. */
function isPassing({ errorCode = "" }: ErrorBody): boolean {
  return !/_NOT_FOUND$|^Unauthorized$|^ROLE_REQUIRED$/.test(errorCode);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
    addEventListener("online", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      removeEventListener("online", done);
      resolve();
    }
  });
}

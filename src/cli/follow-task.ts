import { createParser, type EventSourceMessage } from "eventsource-parser";
import * as E from "fp-ts/Either";
import { intervalAfter } from "../domain/retry-intervals";
import type { Task } from "../domain/spec/task";
import { applyTaskEvent, nothingKnown, type TaskChange } from "../domain/task/task-change";
import type { ApiClient } from "./api-client";
import type { Environment } from "./environment";
import { CliError, exitCode } from "./errors";

/** What somebody who follows a Task is told. */
export type Followed =
  /** `change` is what has led to this state; absent where the service has told the state as a whole. */
  | { readonly type: "TASK"; readonly task: Task; readonly change?: TaskChange }
  /** Nothing is known of the Task for a while; it is tried again. */
  | { readonly type: "TROUBLE"; readonly message: string }
  | { readonly type: "AGAIN" }
  /** The Task has ended; nothing follows. */
  | { readonly type: "END" };

/** For how long a lost connection is tried again. A longer absence is for a person to look at. */
const giveUpAfterMilliseconds = 15 * 60_000;

/** Comments come every minute at least, so a stream that is silent for longer has no other end any more. */
const silenceMilliseconds = 90_000;

const longestPause = 10_000;

/**
 * Follows a Task by its server-sent events (docs/events.md) to its end. A connection that is lost is made again, with the
 * id of the last event. Throws a {@link CliError} where the service refuses, where it cannot be reached from the first
 * (unless the Task `isKnown` to be there), and where it stays away for a quarter of an hour.
 */
export async function* followTask(
  client: ApiClient,
  environment: Environment,
  id: string,
  isKnown = false,
): AsyncGenerator<Followed, void, undefined> {
  const state = new StreamState();
  let lostAt: number | undefined;
  let failures = 0;
  for (;;) {
    try {
      for await (const message of messagesOf(client, environment, id, state.lastEventId)) {
        for (const followed of state.take(message, lostAt !== undefined)) yield followed;
        [lostAt, failures] = [undefined, 0];
        if (state.known.hasEnded) return;
      }
      if (lostAt === undefined) yield { type: "TROUBLE", message: "The service closed the connection." };
    } catch (error) {
      if (!(error instanceof CliError) || !mayPass(error) || !(isKnown || state.known.task)) throw error;
      if (lostAt === undefined) yield { type: "TROUBLE", message: error.message };
      else if (environment.now() - lostAt > giveUpAfterMilliseconds) throw error;
    }
    lostAt ??= environment.now();
    const initialInterval = state.retryMilliseconds;
    const intervals = { initialInterval, backoffCoefficient: 2, maximumInterval: longestPause };
    await environment.wait(intervalAfter(++failures, intervals));
  }
}

/** Whether trying again may help: the service is away, or says that what it needs is. */
function mayPass({ code }: CliError): boolean {
  return code === exitCode.notReachable || code === exitCode.failed;
}

/** What the events so far add up to. */
class StreamState {
  known = nothingKnown;
  lastEventId: string | undefined;
  retryMilliseconds = 1000;

  /** `again` tells that the connection was lost before this message. */
  *take(message: StreamMessage, again: boolean): Generator<Followed> {
    if (again) yield { type: "AGAIN" };
    if (message.type === "RETRY") {
      this.retryMilliseconds = Math.min(message.milliseconds, longestPause);
      return;
    }
    const { event, id } = message.event;
    if (id !== undefined) this.lastEventId = id;
    const next = applyTaskEvent(this.known, message.event);
    if (E.isLeft(next)) throw notUnderstood(next.left);
    this.known = next.right;
    const { task, change, unavailable } = this.known;
    if (task && (event === "snapshot" || event === "change")) yield { type: "TASK", task, ...(change && { change }) };
    if (unavailable && event === "unavailable") yield { type: "TROUBLE", message: unavailable.message };
    if (event === "available") yield { type: "AGAIN" };
    if (event === "end") yield { type: "END" };
  }
}

type StreamMessage =
  | { readonly type: "EVENT"; readonly event: EventSourceMessage }
  | { readonly type: "RETRY"; readonly milliseconds: number };

async function* messagesOf(
  client: ApiClient,
  { interrupted }: Environment,
  id: string,
  lastEventId?: string,
): AsyncGenerator<StreamMessage> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error("no data for too long")), silenceMilliseconds);
  const messages: StreamMessage[] = [];
  const parser = createParser({
    onEvent: (event) => messages.push({ type: "EVENT", event }),
    onRetry: (milliseconds) => messages.push({ type: "RETRY", milliseconds }),
  });
  const headers = {
    accept: "text/event-stream",
    ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
  };
  const path = `/v1/tasks/${encodeURIComponent(id)}/events`;
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  // Ends a read that waits; the request's own signal may be lost by then (`untilStopped`).
  const stop = () => void reader?.cancel().catch(() => undefined);
  const signals = [silence.signal, interrupted];
  try {
    const { body } = await client.open("GET", path, { signal: silence.signal, headers });
    reader = body?.getReader();
    for (const signal of signals) signal.addEventListener("abort", stop);
    const text = new TextDecoder();
    for (;;) {
      const chunk = await reader?.read();
      const stopped = signals.find(({ aborted }) => aborted);
      if (stopped) throw client.unreachable(stopped.reason);
      if (!chunk || chunk.done) return;
      timer.refresh();
      parser.feed(text.decode(chunk.value, { stream: true }));
      yield* messages.splice(0);
    }
  } catch (error) {
    throw error instanceof CliError ? error : client.unreachable(error);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", stop);
    // Whoever stops listening in the middle leaves no connection open.
    stop();
  }
}

function notUnderstood(cause: string): CliError {
  return new CliError(
    exitCode.failed,
    "The service sent an event that this version of upgradectl does not understand.",
    "Use upgradectl of the same version as the service.",
    { cause },
  );
}

import { afterAnswer, clockOffset, unknownClock } from "../model/server-clock";

let bounds = unknownClock;

/** Learns the service's time from an answer that was asked for at `sent`, in epoch milliseconds of the browser. */
export function noteServerTime(answer: Response, sent: number): void {
  const date = Date.parse(answer.headers.get("date") ?? "");
  if (!Number.isNaN(date)) bounds = afterAnswer(bounds, { sent, received: Date.now(), date });
}

/** Epoch milliseconds by the clock of the service, which is that of all times in a Task; the browser's may be wrong. */
export function serverNow(): number {
  return Date.now() + clockOffset(bounds);
}

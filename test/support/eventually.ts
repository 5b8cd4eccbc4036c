import { setTimeout as pause } from "node:timers/promises";

/**
 * Reads again and again until `accept` takes what is read; throws with the last reading after `limit` milliseconds. The
 * pauses grow, as each reading is work for the server that is waited for.
 */
export async function eventually<T>(
  read: () => Promise<T>,
  accept: (reading: T) => boolean,
  limit = 15_000,
): Promise<T> {
  const deadline = Date.now() + limit;
  for (let wait = 10; ; wait = Math.min(wait * 1.5, 80)) {
    const reading = await read();
    if (accept(reading)) return reading;
    if (Date.now() > deadline) throw new Error(`Never came true: ${accept}; last was ${JSON.stringify(reading)}`);
    await pause(wait);
  }
}

/**
 * The Workflow's time in epoch milliseconds, for decisions: whether something is due, too old, or still ahead.
 *
 * Only a Workflow without local Activities may decide by the time. While a local Activity runs, the Workflow Task is renewed
 * and the time moves on; a replay finds its marker in the first of these tasks and sees the earlier time, so that the same
 * `if` may take the other branch, and the Workflow never goes on (docs/decisions/0036). Lint and import rules keep the two
 * apart.
 */
export function currentTime(): number {
  return Date.now();
}

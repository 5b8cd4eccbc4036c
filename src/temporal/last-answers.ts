import { createHash } from "node:crypto";
import type { Memo } from "./memo";

/**
 * What Workflows last answered, for when they do not: no worker, a busy one, a slow server. Forgets the oldest beyond
 * `capacity`.
 */
export class LastAnswers<A> {
  private readonly answers = new Map<string, { readonly answer: A; readonly published: string }>();

  constructor(private readonly capacity: number) {}

  /** `memo`: what the Workflow had published when it answered. */
  remember(key: string, answer: A, memo: Memo): void {
    this.answers.delete(key);
    this.answers.set(key, { answer, published: digestOf(memo) });
    const oldest = this.answers.keys().next().value;
    if (this.answers.size > this.capacity && oldest !== undefined) this.answers.delete(oldest);
  }

  /** The last answer, unless the Workflow has published something since: that is newer then. */
  recall(key: string, memo: Memo): A | undefined {
    const known = this.answers.get(key);
    return known?.published === digestOf(memo) ? known.answer : undefined;
  }

  /** The last answer, however old. */
  latest(key: string): A | undefined {
    return this.answers.get(key)?.answer;
  }

  /** The Workflow has ended: what it has published is its last word. */
  forget(key: string): void {
    this.answers.delete(key);
  }
}

/** Tells memos apart by their payloads as they are stored; an encrypted one changes only when it is written. */
function digestOf(memo: Memo): string {
  const hash = createHash("sha256");
  for (const [name, payload] of Object.entries(memo?.fields ?? {})) hash.update(`${name}:`).update(payload.data ?? "");
  return hash.digest("base64");
}

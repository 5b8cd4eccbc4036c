/**
 * What Workflows last answered, for when they do not: no worker, a busy one, a slow server. Forgets the oldest beyond
 * `capacity`.
 */
export class LastAnswers<A> {
  private readonly answers = new Map<string, { readonly answer: A; readonly memo: string }>();

  constructor(private readonly capacity: number) {}

  /** `memo`: what the Workflow had published when it answered. */
  remember(runId: string, answer: A, memo: unknown): void {
    this.answers.delete(runId);
    this.answers.set(runId, { answer, memo: JSON.stringify(memo) });
    const oldest = this.answers.keys().next().value;
    if (this.answers.size > this.capacity && oldest !== undefined) this.answers.delete(oldest);
  }

  /** The last answer, unless the Workflow has published something since: that is newer then. */
  recall(runId: string, memo: unknown): A | undefined {
    const known = this.answers.get(runId);
    return known?.memo === JSON.stringify(memo) ? known.answer : undefined;
  }
}

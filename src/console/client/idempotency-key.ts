/**
 * The key of a request: the same until it has succeeded, so that a second try after a lost answer starts nothing twice.
 */
export class IdempotencyKey {
  private attempt: { readonly text: string; readonly key: string } | undefined;

  /** The key for a request of this text. */
  of(text: string): string {
    if (this.attempt?.text !== text) this.attempt = { text, key: randomKey() };
    return this.attempt.key;
  }

  /** The same request is another one from now on. */
  forget(): void {
    this.attempt = undefined;
  }
}

/** 128 random bits. `crypto.randomUUID` is not there where the page comes from another host without TLS. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

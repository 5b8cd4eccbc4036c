import { answered, type Answered, type AnsweredError } from "./answered";

/** An answer and its body; `since` is when the request was sent, in epoch milliseconds. */
export interface Reply<B> {
  readonly answer: Answered | undefined;
  readonly body: B | undefined;
  readonly since: number;
}

/** Asks one API process; a connection that is cut or refused is a reply without an answer. */
export class ApiClient {
  constructor(
    readonly url: string,
    private readonly caller: string,
  ) {}

  async send<B>(method: string, path: string, body?: unknown, key?: string): Promise<Reply<B>> {
    const since = Date.now();
    const headers = {
      authorization: `Bearer ${this.caller}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    try {
      const response = await fetch(this.url + path, {
        ...{ method, headers, signal: AbortSignal.timeout(40_000) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const received = (response.status === 204 ? undefined : await response.json()) as (B & AnsweredError) | undefined;
      return { answer: answered(response.status, response.ok ? undefined : received), body: received, since };
    } catch {
      return { answer: undefined, body: undefined, since };
    }
  }
}

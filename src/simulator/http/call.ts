/** A request as handlers see it. `body` is the parsed JSON, undefined where there was none. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What a handler answers; a `body` of undefined means none, anything else is sent as JSON. */
export interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

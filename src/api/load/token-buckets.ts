/** A rate for each of many keys. */
export interface BucketLimits {
  /** How many a minute in the long run, and as many at once after a quiet minute. */
  readonly perMinute: number;
  /** How many keys are remembered at a time. */
  readonly keys: number;
  /** Milliseconds on a clock that only goes forward. */
  readonly now: () => number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * A token bucket for each key. Of more keys than are remembered the one that was not seen for longest is forgotten, and
 * then begins anew: memory is bounded whoever asks, and a key that asks often is never forgotten.
 */
export class TokenBuckets {
  /** The one that was seen last is the last one. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly limits: BucketLimits) {}

  get size(): number {
    return this.buckets.size;
  }

  /** Takes a token of a key; gives 0, or how many seconds, rounded up, it takes until there is one. */
  take(key: string): number {
    const { perMinute, keys } = this.limits;
    const at = this.limits.now();
    const before = this.buckets.get(key);
    const perMillisecond = perMinute / 60_000;
    const tokens = before ? Math.min(perMinute, before.tokens + (at - before.at) * perMillisecond) : perMinute;
    this.buckets.delete(key);
    this.buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at });
    if (this.buckets.size > keys) {
      const [oldest] = this.buckets.keys();
      if (oldest !== undefined) this.buckets.delete(oldest);
    }
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perMillisecond / 1000));
  }
}

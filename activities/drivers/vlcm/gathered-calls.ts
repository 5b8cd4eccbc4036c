import { setTimeout as sleep } from "node:timers/promises";
import DataLoader from "dataloader";

/** How long a question is waited with at most while another call is under way (milliseconds). */
const longestGathering = 250;

interface GatheredCalls<K, A> {
  /** One call for all of these keys, which may repeat; the answers, or the errors, in their order. */
  readonly askAll: (keys: readonly K[]) => Promise<(A | Error)[]>;
  /** So many keys in one call. */
  readonly most?: number;
  /** Milliseconds that each question waits for others; by default it waits only for a call that is under way. */
  readonly wait?: number;
}

/**
 * Whoever asks while a call is under way shares the next one, which begins after all of them have asked: nobody gets an answer
 * that is older than the question, and many that ask at the same time cost few calls. A single question is asked at once, unless
 * it is to wait. A call that fails fails for those who share it (docs/decisions/0024).
 */
export function gatheredCalls<K, A>({ askAll, most = Infinity, wait }: GatheredCalls<K, A>): (key: K) => Promise<A> {
  let underWay: Promise<unknown> = Promise.resolve();
  const untilAsked = () =>
    wait === undefined ? Promise.race([underWay, sleep(longestGathering, undefined, { ref: false })]) : sleep(wait);
  const loader = new DataLoader<K, A>(
    (keys) => {
      const asking = askAll(keys);
      underWay = asking.catch(() => undefined);
      return asking;
    },
    {
      cache: false,
      maxBatchSize: most,
      batchScheduleFn: (dispatch) => void untilAsked().then(dispatch),
    },
  );
  return (key) => loader.load(key);
}

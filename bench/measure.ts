/** Milliseconds that a piece of work takes, with what it returns. */
export async function timed<A>(work: () => Promise<A>): Promise<{ readonly milliseconds: number; readonly result: A }> {
  const began = performance.now();
  const result = await work();
  return { milliseconds: performance.now() - began, result };
}

/** Does `work` for 0 to `count` - 1, `concurrency` at a time; the milliseconds of each and of all together. */
export async function runConcurrently(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<unknown>,
): Promise<{ readonly each: readonly number[]; readonly all: number }> {
  const each: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next++;
      each.push((await timed(() => work(index))).milliseconds);
    }
  };
  const { milliseconds } = await timed(() => Promise.all(Array.from({ length: concurrency }, lane)));
  return { each, all: milliseconds };
}

/**
 * Measures the service and its reference alternately, and which of them begins changes from round to round: whatever else
 * the machine does affects both alike.
 */
export async function alternate<A, B>(
  rounds: number,
  ours: (round: number) => Promise<A>,
  reference: (round: number) => Promise<B>,
): Promise<{ readonly ours: readonly A[]; readonly reference: readonly B[] }> {
  const measured = { ours: [] as A[], reference: [] as B[] };
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 1) measured.reference.push(await reference(round));
    measured.ours.push(await ours(round));
    if (round % 2 === 0) measured.reference.push(await reference(round));
  }
  return measured;
}

/** The value below which a share of the numbers lies, 0 to 1; NaN of none. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export const median = (numbers: readonly number[]) => percentile(numbers, 0.5);

export const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

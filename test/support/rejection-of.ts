/** What a promise is rejected with; fails where it is not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error(`Not rejected, but resolved with ${JSON.stringify(outcome.value)}`);
}

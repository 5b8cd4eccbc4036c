/** The wait that a header `Retry-After` asks for, in milliseconds; 0 where it asks for none or cannot be read. */
export function retryAfterMilliseconds(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : 0;
}

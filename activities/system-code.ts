/** The system's own code of a failed connection, in brackets; messages would name the address. */
export function systemCode(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,60}$/.test(code) ? ` (${code})` : "";
}

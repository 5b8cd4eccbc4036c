/** What a caller may do, in rising order; each role may also do what those before it may. */
export const roles = ["VIEWER", "OPERATOR", "ADMIN"] as const;

/**
 * - `VIEWER` reads.
 * - `OPERATOR` also starts, commits, pauses, cancels and retries.
 * - `ADMIN` may do everything.
 */
export type Role = (typeof roles)[number];

/** The least role that a route asks for; `ANYONE` needs no credentials at all. */
export type RequiredRole = Role | "ANYONE";

/** Whether a caller may use a route that asks for `required`. A caller without a role may use none that asks for one. */
export function roleCovers(role: Role | undefined, required: RequiredRole): boolean {
  if (required === "ANYONE") return true;
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(required);
}

/** The role that a text names, in exactly this spelling. */
export function roleNamed(text: unknown): Role | undefined {
  return roles.find((role) => role === text);
}

/**
 * What a request loads, so that much of one kind takes nothing from another (docs/decisions/0023-load-shedding.md).
 *
 * - `START`: new upgrades.
 * - `STEER`: what operators do to upgrades that exist, from a commit to a cancellation.
 * - `READ`: one Task, Upgrade or bundle. `LIST`: many of them. `EVENTS`: the opening of a stream.
 * - `INVENTORY`: what asks component managers, previews among it.
 * - `SIGN_IN`: passwords and tokens.
 * - `NONE`: health, metrics and files, which are always answered.
 */
export const limitedLoads = ["START", "STEER", "READ", "LIST", "EVENTS", "INVENTORY", "SIGN_IN"] as const;
export type LimitedLoad = (typeof limitedLoads)[number];
export type RequestLoad = LimitedLoad | "NONE";

/** Why a request was refused before anything was done: no room, no turn in time, or too many of one caller. */
export const shedReasons = ["full", "waited", "rate"] as const;
export type ShedReason = (typeof shedReasons)[number];

/** What a role tells the supervisor over its IPC channel, once it can do its work. */
export interface Ready {
  readonly type: "ready";
  /** Where it is reached, if it listens. */
  readonly url?: string;
  /** Ids of the processes that it started itself, by name. */
  readonly processes?: Readonly<Record<string, number>>;
}

/** What a role that cannot start tells the supervisor before it ends: one line for the operator. */
export interface Failed {
  readonly type: "failed";
  readonly message: string;
}

export type RoleMessage = Ready | Failed;

/** The last argument of a role that loads its program and then waits until the supervisor tells it to {@link Begin}. */
export const waitForBegin = "--when-told";

/** What the supervisor tells a role that was launched with {@link waitForBegin}, once what it needs is there. */
export interface Begin {
  readonly type: "begin";
}

/** The processes of the service. Those of a stage need nothing of each other, and all of the stages before. */
export const roleStages = [
  ["temporal", "simulator"],
  ["worker", "api"],
] as const;
export type RoleName = (typeof roleStages)[number][number];

/** The processes of the service, in the order in which their failures are told; they are stopped in the opposite order. */
export const roleNames: readonly RoleName[] = roleStages.flat();

/** Longest orderly stop of each role, in milliseconds. Their sum stays under the 15 s that a stop of all may take. */
export const stopMilliseconds: Readonly<Record<RoleName, number>> = {
  api: 3_000,
  worker: 5_000,
  simulator: 1_500,
  temporal: 4_000,
};

/** What the roles are called in sentences. */
export const roleTitles: Readonly<Record<RoleName, string>> = {
  temporal: "Temporal server",
  simulator: "simulator",
  worker: "worker",
  api: "API",
};

export const isRoleName = (name: string | undefined): name is RoleName => roleNames.some((role) => role === name);

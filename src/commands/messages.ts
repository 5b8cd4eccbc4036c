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

/** The processes of the service, in the order in which they are started; they are stopped in the opposite order. */
export const roleNames = ["temporal", "simulator", "worker", "api"] as const;
export type RoleName = (typeof roleNames)[number];

/** What the roles are called in sentences. */
export const roleTitles: Readonly<Record<RoleName, string>> = {
  temporal: "Temporal server",
  simulator: "simulator",
  worker: "worker",
  api: "API",
};

export const isRoleName = (name: string | undefined): name is RoleName => roleNames.some((role) => role === name);

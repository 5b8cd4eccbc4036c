import type { ComponentManagerAccess } from "./drivers/component-manager-access";

export type { ComponentManagerAccess } from "./drivers/component-manager-access";

/** How long things may take. All in milliseconds. */
export interface ActivityLimits {
  /** One HTTP exchange. */
  readonly callTimeout: number;
  /** How long a component manager that does not answer is waited for before the work is given up. */
  readonly outage: number;
  /** How long a remediation may go on without any progress. */
  readonly stall: number;
  /** How long a host may stay away after its remediation. */
  readonly reconnect: number;
  /** Between two looks at something that is in work; grows from `min` to `max` while nothing changes. */
  readonly poll: { readonly min: number; readonly max: number };
  /** How long another operation on the cluster is waited for. */
  readonly operationBusy: number;
  /** How long a management server may be away while it is upgraded itself. */
  readonly mgmtAbsence: number;
  /** How long an update or migration of a management server may go on without any progress. */
  readonly mgmtStall: number;
}

const minute = 60_000;

/** The limits of production. */
export const defaultActivityLimits: ActivityLimits = {
  callTimeout: 30_000,
  outage: 60 * minute,
  stall: 120 * minute,
  reconnect: 30 * minute,
  poll: { min: 250, max: 5_000 },
  operationBusy: 30 * minute,
  mgmtAbsence: 120 * minute,
  mgmtStall: 120 * minute,
};

/** Where hosts get a HOSTOS version from, in the words of the host's patch manager. */
export interface PatchSource {
  /** The version that it brings, such as `9.0.1-0.24957456`. */
  readonly version: string;
  /** URLs of depots' `metadata.zip`, reachable from the hosts; never empty. */
  readonly metadataUrls: readonly string[];
  /** URLs of single packages to install, where not everything in the depots is to be. */
  readonly vibUrls?: readonly string[];
}

/** Which patch is meant: that of a version, or an ISO of the inventory. */
export interface PatchQuery {
  readonly version: string;
  readonly customIsoId?: string;
}

/** What an upgrade of a management server needs beside its access. Never logged and never part of an error. */
export interface ManagementServerSettings {
  /** DNS servers of a new appliance with a STATIC temporary address. */
  readonly dnsServers: readonly string[];
  /** Root password of a new appliance until the switchover. */
  readonly temporaryRootPassword?: string;
  /** Answers to the questions of an update, by the product's name of each (`vmdir.password`). */
  readonly answers: Readonly<Record<string, string>>;
}

/** What Activities need from the process that runs them; made by the composition root. */
export interface ActivityDependencies {
  /** Address and credentials of a component manager; undefined where the inventory does not know it. */
  componentManager(id: string): ComponentManagerAccess | undefined;
  /** Where the hosts of a component manager's baseline-managed clusters get a patch; undefined where it is not known. */
  patchFor(componentManagerId: string, query: PatchQuery): PatchSource | undefined;
  /** Settings of the management server with this resource id; undefined where the inventory has none. */
  managementServer(resourceId: string): ManagementServerSettings | undefined;
  /** The upgrade whose child Workflow has this ID and is running; undefined where none is. */
  readLockHolder(workflowId: string): Promise<string | undefined>;
  readonly limits: ActivityLimits;
}

import type { CheckDefinition } from "../src/domain/checks/check-definition";
import type { NotificationChannel } from "../src/domain/notifications/notification-channel";
import type { Hold } from "../src/domain/hold";
import type { Bundle } from "../src/domain/spec/bundle";
import type { ActivityLimits } from "./activity-limits";
import type { HostMaintenance } from "./clusters/host-maintenance";
import type { LockHolder, PendingWait, UpgradeEnd } from "./contract";
import type { ObserveCall } from "./drivers/call-observation";
import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import type { Closures } from "./closure-check";

export type { ComponentManagerAccess } from "./drivers/component-manager-access";

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

/** What telling receivers needs. */
export interface NotificationDependencies {
  /** How the receiver with this id is reached; undefined where the inventory has none. */
  receiver(id: string): NotificationChannel | undefined;
  /** How the Workflow of an upgrade stands. */
  readUpgradeEnd(upgradeId: string): Promise<UpgradeEnd>;
  /** What the running parts of an upgrade wait for. */
  readWaits(upgradeId: string): Promise<readonly PendingWait[]>;
}

/** What Activities need from the process that runs them; made by the composition root. */
export interface ActivityDependencies extends Closures {
  /** Address and credentials of a component manager; undefined where the inventory does not know it. */
  componentManager(id: string): ComponentManagerAccess | undefined;
  /** Where the hosts of a component manager's baseline-managed clusters get a patch; undefined where it is not known. */
  patchFor(componentManagerId: string, query: PatchQuery): PatchSource | undefined;
  /** The bundle as the catalog has it at this moment; absent where there is no catalog to look at. Throws what is wrong with it. */
  readBundle?(bundleId: string): Bundle | undefined;
  /** The holds that lists show, a new one a moment late; absent where there are none. */
  listHolds?(): Promise<readonly Hold[]>;
  /** Settings of the management server with this resource id; undefined where the inventory has none. */
  managementServer(resourceId: string): ManagementServerSettings | undefined;
  /** How the check with this id is asked; undefined where the inventory has none. Absent where there are no checks. */
  findCheck?(id: string): CheckDefinition | undefined;
  /** The upgrade whose child Workflow has this ID and is running. */
  readLockHolder(workflowId: string): Promise<LockHolder>;
  /** Maintenance mode of single hosts, where it is not to be that of the management interface. */
  hostMaintenance?(componentManagerId: string): HostMaintenance;
  /** Absent where nobody is told what happens to upgrades. */
  readonly notifications?: NotificationDependencies;
  readonly limits: ActivityLimits;
  /** Who watches the calls to component managers; nobody by default. */
  readonly observe?: ObserveCall;
}

import type { ActivityLimits } from "./activity-limits";
import type { ComponentManagerAccess } from "./drivers/component-manager-access";
import type { HostMaintenance } from "./hostos/host-maintenance";

export { type ActivityLimits, defaultActivityLimits } from "./activity-limits";
export type { ComponentManagerAccess } from "./drivers/component-manager-access";

/** What Activities need from the process that runs them; made by the composition root. */
export interface ActivityDependencies {
  /** Address and credentials of a component manager; undefined where the inventory does not know it. */
  componentManager(id: string): ComponentManagerAccess | undefined;
  /** The upgrade whose child Workflow has this ID and is running; undefined where none is. */
  readLockHolder(workflowId: string): Promise<string | undefined>;
  /** Maintenance mode of single hosts; absent where no upgrade has a rollout of several hosts or a health gate. */
  hostMaintenance?(access: ComponentManagerAccess): HostMaintenance;
  readonly limits: ActivityLimits;
}

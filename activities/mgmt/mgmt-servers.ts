import type { ActivityDependencies, ManagementServerSettings } from "../activity-dependencies";
import { unobserved } from "../drivers/call-observation";
import { createVcsaClient, type VcsaClient } from "../drivers/vcsa/vcsa-client";
import { managerClients } from "../manager-clients";
import type { MgmtTarget } from "../mgmt-contract";

/** A management server as Activities work on it. */
export interface MgmtServerAccess {
  readonly client: VcsaClient;
  readonly settings: ManagementServerSettings;
}

const nothingSet: ManagementServerSettings = { dnsServers: [], answers: {} };

/** One client, and so one session, per management server. Throws DriverError where the inventory does not know it. */
export function mgmtServers({
  componentManager,
  managementServer,
  limits,
  observe = unobserved,
}: Pick<ActivityDependencies, "componentManager" | "managementServer" | "limits" | "observe">) {
  const clientOf = managerClients(componentManager, (access, secrets) =>
    createVcsaClient(access, { callTimeout: limits.callTimeout, clock: limits.clock, secrets, observe }),
  );
  return ({ server }: Pick<MgmtTarget, "server">): MgmtServerAccess => {
    const settings = managementServer(server.resourceId) ?? nothingSet;
    const { temporaryRootPassword: password, answers } = settings;
    const secrets = [...(password === undefined ? [] : [password]), ...Object.values(answers)];
    return { client: clientOf(server.componentManagerId, secrets), settings };
  };
}

import type { MgmtTemporaryNetwork } from "../../src/domain/upgrade-plan";
import type { ManagementServerSettings } from "../activity-dependencies";
import type { MigrationSpec } from "../drivers/vcsa/vcsa-models";
import type { Finding } from "../prechecks/precheck";

interface Wanted {
  readonly server: { readonly name: string; readonly resourceId: string };
  readonly targetVersion: string;
  readonly temporaryNetwork?: MgmtTemporaryNetwork;
}

/** What the inventory has to say for a migration and does not. */
export function missingSettings({ server, temporaryNetwork }: Wanted, settings: ManagementServerSettings): Finding[] {
  const remedy = (what: string) =>
    `Set ${what} of management server ${server.name} (${server.resourceId}) in the inventory, restart the workers, then try again.`;
  return [
    ...(temporaryNetwork?.mode === "STATIC" && settings.dnsServers.length === 0
      ? [
          {
            code: "MGMT_SETTINGS_MISSING",
            message: `A STATIC temporary network needs DNS servers, and the inventory has none for ${server.name}.`,
            remediation: remedy("the DNS servers"),
            context: { setting: "dnsServers" },
          },
        ]
      : []),
    ...(settings.temporaryRootPassword
      ? []
      : [
          {
            code: "MGMT_SETTINGS_MISSING",
            message: `A migration needs a temporary root password, and the inventory has none for ${server.name}.`,
            remediation: remedy("the temporary root password"),
            context: { setting: "temporaryRootPassword" },
          },
        ]),
  ];
}

/** What the product is asked for. AUTOMATIC leaves the network out: it takes a link-local address then. */
export function migrationSpec(
  { targetVersion, temporaryNetwork }: Wanted,
  settings: ManagementServerSettings,
): MigrationSpec {
  return {
    version: targetVersion,
    deployment: {
      appliance: {
        root_password: settings.temporaryRootPassword ?? "",
        ...(temporaryNetwork?.mode === "STATIC" && {
          network_settings: {
            mode: "STATIC" as const,
            ip_family: "IPV4" as const,
            ip: temporaryNetwork.ipAddress,
            prefix: temporaryNetwork.prefix,
            gateway: temporaryNetwork.gateway,
            dns_servers: settings.dnsServers,
          },
        }),
      },
    },
  };
}

/**
 * The address of the console's page of an upgrade (`src/console/model/page-address.ts`). `publicUrl`: where people open the
 * service, without a slash at its end.
 */
export function upgradePage(publicUrl: string, upgradeId: string): string {
  return `${publicUrl}/#/upgrades/${encodeURIComponent(upgradeId)}`;
}

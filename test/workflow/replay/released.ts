/**
 * Whether a version is 1.0.0 or later. Before, nobody runs upgrades that a later build has to go on with: Workflows change
 * freely and their histories are recorded anew. From then on every change is patched (docs/deploys.md).
 */
export function isReleased(version: string): boolean {
  return Number.parseInt(version, 10) >= 1;
}

import type { UpgradeExecutions } from "./ports";
import { startUpgrade, type StartUpgradeDependencies } from "./start-upgrade";
import type { UpgradeService } from "./upgrade-service";
import { listUpgrades } from "./list-upgrades";

export interface UpgradeServiceDependencies extends StartUpgradeDependencies {
  readonly executions: UpgradeExecutions;
  /** Succeeds where upgrades can run. */
  readonly checkReady: UpgradeService["checkReady"];
}

/** Puts the use cases together. */
export function createUpgradeService(deps: UpgradeServiceDependencies): UpgradeService {
  const { executions } = deps;
  return {
    startUpgrade: startUpgrade(deps),
    listUpgrades: listUpgrades(deps),
    getUpgrade: (id) => executions.readUpgrade(id),
    getTask: (id) => executions.readTask(id),
    checkReady: deps.checkReady,
  };
}

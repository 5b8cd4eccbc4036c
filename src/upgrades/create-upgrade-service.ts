import type { Identities, UpgradeExecutions } from "./ports";
import { startUpgrade, type StartUpgradeDependencies } from "./start-upgrade";
import type { UpgradeService } from "./upgrade-service";
import { listUpgrades } from "./list-upgrades";
import { TaskWatcher, type WatchTaskDependencies } from "./watch-task";

export interface UpgradeServiceDependencies extends StartUpgradeDependencies, WatchTaskDependencies {
  readonly executions: UpgradeExecutions;
  readonly identities: Identities;
  /** Succeeds where upgrades can run. */
  readonly checkReady: UpgradeService["checkReady"];
}

/** Puts the use cases together. */
export function createUpgradeService(deps: UpgradeServiceDependencies): UpgradeService {
  const { executions } = deps;
  const watcher = new TaskWatcher(deps);
  return {
    startUpgrade: startUpgrade(deps),
    listUpgrades: listUpgrades(deps),
    getUpgrade: (id) => executions.readUpgrade(id),
    getTask: (id) => executions.readTask(id),
    watchTask: (id, lastEventId) => watcher.watch(id, lastEventId),
    close: () => watcher.close(),
    checkReady: deps.checkReady,
  };
}

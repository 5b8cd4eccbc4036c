import type * as TE from "fp-ts/TaskEither";
import { isReadinessId } from "../domain/readiness/readiness-task";
import type { Task } from "../domain/spec/task";
import { acknowledgeFinding } from "./acknowledge-finding";
import { cancelTask, retryTask } from "./control-task";
import { controlUpgrade, decideApproval, runPrechecks, updateUpgrade } from "./control-upgrade";
import { liftFreeze, putFreeze, readFreeze } from "./freeze";
import { listHolds, putHold, releaseHold } from "./holds";
import { retryParts, skipPart } from "./leave-out";
import type { BundleCatalog, Freezes, Holds, Identities, Inventory, ReadinessChecks, UpgradeExecutions } from "./ports";
import {
  listBundles,
  listClusters,
  listIsos,
  listManagementServers,
  listNetvirt,
  listPersonalities,
  readBundle,
  readCluster,
} from "./read-installations";
import {
  cancelReadiness,
  deleteReadinessSchedule,
  listReadiness,
  listReadinessSchedules,
  retryReadiness,
  startReadiness,
} from "./readiness";
import { listUpgrades, readActivity, readPrechecks, readRequest, readTask } from "./read-upgrades";
import { previewUpgrade, readPlan, startUpgrade, type StartUpgradeDependencies } from "./start-upgrade";
import type { ServiceError } from "./service-error";
import type { UpgradeService } from "./upgrade-service";
import { TaskWatcher, type WatchTaskDependencies } from "./watch-task";

export interface UpgradeServiceDependencies extends StartUpgradeDependencies, WatchTaskDependencies {
  readonly executions: UpgradeExecutions;
  readonly freezes: Freezes;
  readonly holds: Holds;
  readonly readiness: ReadinessChecks;
  readonly catalog: BundleCatalog;
  readonly inventory: Inventory;
  readonly identities: Identities;
  /** Succeeds where upgrades can run; with the problems of some of them. */
  readonly checkReady: UpgradeService["checkReady"];
}

/** Puts the use cases together. */
export function createUpgradeService(deps: UpgradeServiceDependencies): UpgradeService {
  const { executions, catalog, readiness } = deps;
  const watcher = new TaskWatcher({ ...deps, executions: { readTask: readAnyTask(readTask(executions)) } });
  /** A Task is that of an upgrade, of a run of its prechecks, or of a readiness check, as its id says. */
  function readAnyTask(ofUpgrade: (id: string) => TE.TaskEither<ServiceError, Task>) {
    return (id: string) => (isReadinessId(id) ? readiness.read(id) : ofUpgrade(id));
  }
  const [retry, cancel] = [retryTask(deps), cancelTask(deps)];
  const [refuseRetry, cancelCheck] = [retryReadiness(deps), cancelReadiness(deps)];
  return {
    startUpgrade: startUpgrade(deps),
    previewUpgrade: previewUpgrade(deps),
    listUpgrades: listUpgrades(deps),
    countUpgrades: (filter) => executions.count(filter),
    getUpgrade: (id) => executions.readUpgrade(id),
    readRequest: readRequest(executions),
    readPlan: readPlan(deps),
    updateUpgrade: updateUpgrade(deps),
    controlUpgrade: controlUpgrade(deps),
    decideApproval: decideApproval(deps),
    skipPart: skipPart(deps),
    retryParts: retryParts(deps),
    runPrechecks: runPrechecks(deps),
    acknowledgeFinding: acknowledgeFinding(deps),
    readPrechecks: readPrechecks(executions),
    readActivity: readActivity(executions),
    listTasks: (filter, page) => executions.listTasks(filter, page),
    getTask: readAnyTask(readTask({ readTask: (id) => executions.readTaskInTime(id) })),
    watchTask: (id, follower) => watcher.watch(id, follower),
    retryTask: (id, caller) => (isReadinessId(id) ? refuseRetry(id) : retry(id, caller)),
    cancelTask: (id, caller) => (isReadinessId(id) ? cancelCheck(id) : cancel(id, caller)),
    listBundles: listBundles(catalog),
    readBundle: readBundle(catalog),
    listClusters: listClusters(deps),
    listNetvirt: listNetvirt(deps.inventory),
    listManagementServers: listManagementServers(deps.inventory),
    listPersonalities: listPersonalities(deps.inventory),
    listIsos: listIsos(deps.inventory),
    readCluster: readCluster(deps),
    putFreeze: putFreeze(deps),
    readFreeze: readFreeze(deps),
    liftFreeze: liftFreeze(deps),
    putHold: putHold(deps),
    releaseHold: releaseHold(deps),
    listHolds: listHolds(deps),
    startReadiness: startReadiness(deps),
    listReadiness: listReadiness(deps),
    listReadinessSchedules: listReadinessSchedules(deps),
    deleteReadinessSchedule: deleteReadinessSchedule(deps),
    close: () => watcher.close(),
    checkReady: deps.checkReady,
  };
}

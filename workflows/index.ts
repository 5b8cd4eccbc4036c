/** The Workflows that a worker runs; the name of each is its Workflow Type. */
export { freezeWorkflow, holdWorkflow } from "./freeze-and-hold";
export { clusterUpgradeWorkflow } from "./resource/cluster-workflow";
export { mgmtUpgradeWorkflow } from "./resource/mgmt-workflow";
export { netvirtUpgradeWorkflow } from "./resource/netvirt-workflow";
export { notifyWorkflow } from "./notifications/notify-workflow";
export { watchUpgradeWorkflow } from "./notifications/watch-upgrade-workflow";
export { readinessWorkflow } from "./readiness/readiness-workflow";
export { upgradeWorkflow } from "./upgrade/upgrade-workflow";

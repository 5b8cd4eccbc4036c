/** The Workflows that a worker runs; the name of each is its Workflow Type. */
export { clusterUpgradeWorkflow } from "./cluster-upgrade-workflow";
export { mgmtUpgradeWorkflow } from "./mgmt-upgrade-workflow";
export { netvirtUpgradeWorkflow } from "./netvirt-upgrade-workflow";
export { notifyWorkflow } from "./notify-workflow";
export { upgradeWorkflow } from "./upgrade-workflow";

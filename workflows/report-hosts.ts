import { getExternalWorkflowHandle, log, workflowInfo } from "@temporalio/workflow";
import { hostsSignal, type HostsReport } from "./messages";

/** Tells the upgrade, if there is one, how many hosts of a resource are done. */
export async function reportHosts(report: HostsReport): Promise<void> {
  const { parent } = workflowInfo();
  if (!parent) return;
  try {
    await getExternalWorkflowHandle(parent.workflowId, parent.runId).signal(hostsSignal, report);
  } catch (error) {
    log.warn("The upgrade could not be told how many hosts are done", { resourceId: report.resourceId, error });
  }
}

import { defaultPayloadConverter } from "@temporalio/common";
import { workflowInfo, type WorkflowInterceptorsFactory } from "@temporalio/workflow";
import { taskIdHeader } from "./messages";

/**
 * Puts the Task id on every log line of a Workflow and into the headers of its Activities, so that the story of an
 * upgrade can be searched by one id, whichever Workflow tells it. Changes no command but its headers, and adds no
 * `await`: histories of builds without it replay.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      getLogAttributes: (attributes, next) => next({ ...attributes, taskId: taskId() }),
      scheduleActivity: (input, next) =>
        next({ ...input, headers: { ...input.headers, [taskIdHeader]: defaultPayloadConverter.toPayload(taskId()) } }),
    },
  ],
});

/** The Workflow ID of the upgrade, which is the parent of the Workflow of each resource. */
function taskId(): string {
  const { parent, workflowId } = workflowInfo();
  return parent?.workflowId ?? workflowId;
}

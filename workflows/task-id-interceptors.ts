import { defaultPayloadConverter, type Headers } from "@temporalio/common";
import { workflowInfo, type WorkflowInterceptorsFactory } from "@temporalio/workflow";
import { requestIdHeader, taskIdHeader } from "./messages";
import { causingRequest } from "./request-cause";

/**
 * Puts the Task id and the id of the causing HTTP request on every log line of a Workflow and into the headers of its
 * Activities, so that the story of an upgrade can be searched by one id, whichever Workflow tells it. Changes no command
 * but its headers, and adds no `await`: histories of builds without it replay.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  outbound: [
    {
      getLogAttributes: (attributes, next) => {
        const requestId = causingRequest();
        return next({ ...attributes, taskId: taskId(), ...(requestId !== undefined && { requestId }) });
      },
      scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...ids() } }),
      scheduleLocalActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...ids() } }),
    },
  ],
});

function ids(): Headers {
  const requestId = causingRequest();
  return {
    [taskIdHeader]: defaultPayloadConverter.toPayload(taskId()),
    ...(requestId !== undefined && { [requestIdHeader]: defaultPayloadConverter.toPayload(requestId) }),
  };
}

/** The Workflow ID of the upgrade, which is the parent of the Workflow of each resource. */
function taskId(): string {
  const { parent, workflowId } = workflowInfo();
  return parent?.workflowId ?? workflowId;
}

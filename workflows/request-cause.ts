import { workflowInfo } from "@temporalio/workflow";

/** Of the module, and so of one Workflow: the SDK gives each its own modules. */
let latest: { readonly requestId: string | undefined } | undefined;

/**
 * The `x-request-id` of the HTTP request on whose behalf the Workflow works now: of the one that started it, until another
 * one has made it go on ({@link onBehalfOf}). For log lines and headers only; undefined where no HTTP request was the
 * cause.
 */
export function causingRequest(): string | undefined {
  if (latest) return latest.requestId;
  const requestId = workflowInfo().memo?.["requestId"];
  return typeof requestId === "string" ? requestId : undefined;
}

/** Does what a request asks for. Where `work` says so, all that follows is on behalf of this request as well. */
export function onBehalfOf<T>(
  requestId: string | undefined,
  work: () => { readonly result: T; readonly goesOn: boolean },
): T {
  const before = latest;
  latest = { requestId };
  const { result, goesOn } = work();
  if (!goesOn) latest = before;
  return result;
}

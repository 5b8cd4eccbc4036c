import type { ErrorBody } from "../../domain/error-body";
import type { RequestProblem } from "./form-request";
import type { UpgradeForm } from "./upgrade-form";

/** The problems of an error of the service that name a field; the path is that of the request. */
export function problemsOfError(error: ErrorBody): readonly RequestProblem[] {
  const { nestedErrors = [], context, message, remediationMessage: remediation } = error;
  if (nestedErrors.length > 0) return nestedErrors.flatMap(problemsOfError);
  const path = context?.["path"];
  return path === undefined ? [] : [{ path, message, ...(remediation !== undefined && { remediation }) }];
}

/**
 * Where the form keeps what a path of the request is about. The fields of a cluster are its own, or those that all
 * clusters share; that a cluster is named is its choice in the list.
 */
export function formPathOf(form: UpgradeForm, path: string): string {
  const match = /^resourceUpgradeSpecs(?:\[(\d+)\](?:\.(.+))?)?$/.exec(path);
  if (!match) return path;
  const [, index, field] = match;
  if (index === undefined) return "clusters";
  if (field === undefined || field === "resourceId") return `clusters[${index}]`;
  return form.clusters[Number(index)]?.own === undefined ? `common.${field}` : `clusters[${index}].own.${field}`;
}

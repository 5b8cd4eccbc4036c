import * as E from "fp-ts/Either";
import type { Cluster } from "../../domain/cluster";
import { withoutNulls } from "../../domain/absent-nulls";
import { problemsOf } from "../../domain/decode-errors";
import { unknownFields } from "../../domain/unknown-fields";
import { UpgradeSpec } from "../../domain/upgrade-spec";
import { formOf } from "./form-request";
import type { UpgradeForm } from "./upgrade-form";

/** What a text is as a request: the form of it with the paths of fields that nobody knows, or what is wrong with it. */
export type ReadRequest = E.Either<
  readonly string[],
  { readonly form: UpgradeForm; readonly unknown: readonly string[] }
>;

/** How many problems of a pasted text are told. */
const mostTold = 20;

/** Reads a request from JSON, by the service's own codec. */
export function readRequest(text: string, clusters: readonly Cluster[]): ReadRequest {
  let json: unknown;
  try {
    json = JSON.parse(text) as unknown;
  } catch (thrown) {
    return E.left([`This is no JSON: ${thrown instanceof Error ? thrown.message : "it cannot be read"}.`]);
  }
  const decoded = UpgradeSpec.decode(withoutNulls(UpgradeSpec, json));
  if (E.isLeft(decoded)) {
    const { problems, unlisted } = problemsOf(decoded.left, "The request", mostTold);
    return E.left([...problems.map(({ message }) => message), ...(unlisted > 0 ? [`And ${unlisted} more.`] : [])]);
  }
  const form = formOf(decoded.right, clusters);
  return E.isLeft(form)
    ? E.left([form.left])
    : E.right({ form: form.right, unknown: unknownFields(UpgradeSpec, json).map(({ path }) => path) });
}

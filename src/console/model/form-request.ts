import * as E from "fp-ts/Either";
import { problemsOf, withoutNulls } from "../../domain/decode";
import type { ErrorBody } from "../../domain/errors";
import { optionsOfImages, remediationOptions } from "../../domain/plan/remediation-options";
import type { Cluster } from "../../domain/spec/cluster";
import { ResourceUpgradeSpec, UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { unknownFields } from "../../domain/unknown-fields";
import { type FieldPath, withValueAt, writtenPath } from "./field-path";
import { type ChosenCluster, type Fields, requestFields, type UpgradeForm } from "./upgrade-form";

/** What is wrong with a field of the request, which `path` names as the service does. */
export interface RequestProblem {
  readonly path: string;
  readonly message: string;
  readonly remediation?: string;
}

/** How many problems are worth showing at once. */
const mostProblems = 100;

/** The request of a form, decoded by the service's own codec, or everything that is missing or wrong in it. */
export function requestOf(
  form: UpgradeForm,
  clusters: readonly Cluster[],
): E.Either<readonly RequestProblem[], UpgradeSpec> {
  const missing = [
    ...(form.bundleId === "" ? [{ path: "bundleId", message: "Choose a bundle." }] : []),
    ...(form.clusters.length === 0 ? [{ path: "resourceUpgradeSpecs", message: "Choose at least one cluster." }] : []),
  ];
  const decoded = UpgradeSpec.decode({
    bundleId: form.bundleId,
    resourceType: "CLUSTER",
    ...Object.fromEntries(
      requestFields.flatMap((name) => (form[name] === undefined ? [] : [[name, form[name]] as const])),
    ),
    resourceUpgradeSpecs: form.clusters.map((cluster) => ({
      resourceId: cluster.resourceId,
      ...fieldsOf(cluster, form, clusters),
      ...(cluster.hosts && { hosts: cluster.hosts }),
    })),
  });
  if (E.isRight(decoded)) return decoded;
  const known = new Set(missing.map(({ path }) => path));
  const { problems } = problemsOf(decoded.left, "The request", mostProblems);
  return E.left([
    ...missing,
    ...problems.flatMap(({ path = "", message }) => (known.has(path) ? [] : { path, message: plainly(path, message) })),
  ]);
}

/** A field for times gives a right time or none, and a list of hosts is made of its choices: what lacks is a choice. */
function plainly(path: string, message: string): string {
  if (/\.hosts\.(?:in|ex)clude$/.test(path)) return "Choose at least one host, or all.";
  return path.endsWith("Timestamp") ? "Choose a date and a time." : message;
}

/** Fields that all clusters share and that are left out for one of them, by its id: they exist for another kind only. */
export function leftOut(form: UpgradeForm, clusters: readonly Cluster[]): ReadonlyMap<string, readonly string[]> {
  const entries = form.clusters
    .filter(({ own }) => own === undefined)
    .map(({ resourceId }) => [resourceId, fieldsForKind(form.common, kindOf(resourceId, clusters)).dropped] as const);
  return new Map(entries.filter(([, dropped]) => dropped.length > 0));
}

/**
 * The form of a request: what it says of most of its clusters is what they share. On the left: why the form cannot show
 * it. The request of the form is the same again.
 */
export function formOf(spec: UpgradeSpec, clusters: readonly Cluster[]): E.Either<string, UpgradeForm> {
  const { bundleId, resourceType, resourceUpgradeSpecs, ...others } = spec;
  if (resourceType !== "CLUSTER") return E.left(`The form knows clusters only; the resourceType is ${resourceType}.`);
  const ids = resourceUpgradeSpecs.map(({ resourceId }) => resourceId);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) return E.left(`Cluster ${twice} is named twice.`);
  const own = resourceUpgradeSpecs.map(({ resourceId: _id, hosts: _hosts, ...fields }) => fields);
  const texts = own.map(canonical);
  const common = own[texts.indexOf(mostFrequent(texts))] ?? {};
  return E.right({
    ...others,
    bundleId,
    common,
    clusters: ids.map((resourceId, i) => {
      const shared = fieldsForKind(common, kindOf(resourceId, clusters)).fields;
      const fields = own[i] ?? {};
      const hosts = resourceUpgradeSpecs[i]?.hosts;
      return {
        resourceId,
        ...(hosts && { hosts }),
        ...(canonical(shared) !== texts[i] && { own: fields }),
      };
    }),
  });
}

/** What is sent for a cluster. */
function fieldsOf({ resourceId, own }: ChosenCluster, form: UpgradeForm, clusters: readonly Cluster[]) {
  return own ?? fieldsForKind(form.common, kindOf(resourceId, clusters)).fields;
}

function kindOf(id: string, clusters: readonly Cluster[]): Cluster["kind"] {
  return clusters.find((cluster) => cluster.id === id)?.kind;
}

function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return [...counts].find(([, count]) => count === most)?.[0] ?? "";
}

/** The same text for the same fields, in whatever order they are. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

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
    return E.left([`This is not JSON: ${thrown instanceof Error ? thrown.message : "it cannot be read"}.`]);
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

/** The problems of an error of the service that name a field; the path is that of the request. */
export function problemsOfError(error: ErrorBody): readonly RequestProblem[] {
  const { nestedErrors = [], context, message, remediationMessage: remediation } = error;
  if (nestedErrors.length > 0) return nestedErrors.flatMap(problemsOfError);
  const path = context?.["path"];
  return path === undefined ? [] : [{ path, message, ...(remediation !== undefined && { remediation }) }];
}

/**
 * Where the form keeps what a path of the request is about. The fields of a cluster are its own, or those that all
 * clusters share; that a cluster is named is its choice in the list, and so are its hosts.
 */
export function formPathOf(form: UpgradeForm, path: string): string {
  // All labels are one field.
  if (path.startsWith("labels.")) return "labels";
  const match = /^resourceUpgradeSpecs(?:\[(\d+)\](?:\.(.+))?)?$/.exec(path);
  if (!match) return path;
  const [, index, field] = match;
  if (index === undefined) return "clusters";
  if (field === undefined || field === "resourceId") return `clusters[${index}]`;
  if (/^hosts\b/.test(field)) return `clusters[${index}].${field}`;
  return form.clusters[Number(index)]?.own === undefined ? `common.${field}` : `clusters[${index}].own.${field}`;
}

interface FieldsForKind {
  readonly fields: Fields;
  /** Paths of what the kind cannot be asked for. */
  readonly dropped: readonly string[];
}

/**
 * What fields that clusters share mean for one of them: a field that exists only for the other kind is left out, because
 * the service refuses it (docs/spec-gaps.md, cluster kinds). All fields where the kind is not known, or where they do
 * not decode.
 */
export function fieldsForKind(fields: Fields, kind: Cluster["kind"]): FieldsForKind {
  const unfit = unfitFields(fields, kind);
  return {
    fields: unfit.reduce<Fields>((left, path) => (withValueAt(left, path, undefined) ?? {}) as Fields, fields),
    dropped: unfit.map(writtenPath),
  };
}

function unfitFields(fields: Fields, kind: Cluster["kind"]): readonly FieldPath[] {
  const has = (name: string) => fields[name] !== undefined;
  if (kind === "IMAGE") return has("customIsoSpec") ? [["customIsoSpec"]] : [];
  const decoded = ResourceUpgradeSpec.decode({ ...fields, resourceId: "any" });
  if (kind === undefined || decoded._tag === "Left") return [];
  const spec = decoded.right;
  const options = optionsOfImages(remediationOptions(spec)).flatMap(({ option }): FieldPath[] => [
    ...(spec.hostosUpgradeOptionsSpec?.[option] === undefined ? [] : [["hostosUpgradeOptionsSpec", option]]),
    ...(has(option) ? [[option]] : []),
  ]);
  return [...(has("personalitySpec") ? [["personalitySpec"]] : []), ...options];
}

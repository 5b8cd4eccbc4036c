import * as E from "fp-ts/Either";
import type { Cluster } from "../../domain/cluster";
import { problemsOf } from "../../domain/decode-errors";
import { UpgradeSpec } from "../../domain/upgrade-spec";
import { fieldsForKind } from "./fields-for-kind";
import { requestFields, type ChosenCluster, type UpgradeForm } from "./upgrade-form";

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

/** A field for times gives a right time or none, so the only mistake there is that something lacks. */
function plainly(path: string, message: string): string {
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
  const own = resourceUpgradeSpecs.map(({ resourceId: _id, ...fields }) => fields);
  const texts = own.map(canonical);
  const common = own[texts.indexOf(mostFrequent(texts))] ?? {};
  return E.right({
    ...others,
    bundleId,
    common,
    clusters: ids.map((resourceId, i) => {
      const shared = fieldsForKind(common, kindOf(resourceId, clusters)).fields;
      const fields = own[i] ?? {};
      return canonical(shared) === texts[i] ? { resourceId } : { resourceId, own: fields };
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

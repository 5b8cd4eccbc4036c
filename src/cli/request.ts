import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { repeatRequest } from "../domain/plan/repeat-request";
import { type RolloutSpec, UpgradeSpec } from "../domain/spec/upgrade-spec";
import type { CommandContext } from "./command-context";
import type { Environment } from "./environment";
import { inTermsOfOptions, wrongUsage } from "./errors";
import type { Named } from "./names";
import type { RequestOptions } from "./request-options";

/** A request as it is sent, and what its errors are called on the command line. */
export interface UpgradeRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly isDraft: boolean;
  /** Errors of the service name options where the request was made from some. */
  readonly translate: (error: unknown) => unknown;
}

/** The request that a command line gives. */
export async function readRequest(context: CommandContext, options: RequestOptions): Promise<UpgradeRequest> {
  const { file, draft, like, reason, change, label, ignoreMaintenanceWindow } = options;
  const changeRecord = {
    ...(reason !== undefined && { reason }),
    ...(change !== undefined && { changeId: change }),
    ...(label && { labels: Object.fromEntries(label) }),
    ...(ignoreMaintenanceWindow && { maintenanceWindow: "IGNORE" }),
  };
  if (like !== undefined || file === undefined) {
    const { body, ...request } =
      like === undefined ? await requestOfOptions(context, options) : await requestLike(context, like, options);
    return { ...request, body: { ...body, ...changeRecord } };
  }
  const read = await readSpec(file, context.environment);
  const body = { ...read, ...changeRecord, ...(draft && { draftMode: true }) };
  const translate = (error: unknown) =>
    inTermsOfOptions(error, (path) =>
      path in changeRecord || path === "reason" ? changeRecordOption(path) : undefined,
    );
  return { body, isDraft: body["draftMode"] === true, translate };
}

/** The option that a field of a change record comes from. */
function changeRecordOption(path: string): string | undefined {
  if (path.startsWith("labels")) return "--label";
  return { reason: "--reason", changeId: "--change", maintenanceWindow: "--ignore-maintenance-window" }[path];
}

/** The request of an earlier upgrade, for now or for another time. */
async function requestLike(
  context: CommandContext,
  like: string,
  { at, draft: isDraft = false }: { readonly at?: string; readonly draft?: boolean },
): Promise<UpgradeRequest> {
  const id = await context.names.idOf("upgrade", like);
  const earlier = await context.client.request("GET", `/v1/upgrades/${id}/request`, UpgradeSpec);
  const begin = at === undefined ? { upgradeNow: true } : { scheduledTimestamp: context.readTime(at) };
  const optionOf = (path: string) => (path.endsWith(".scheduledTimestamp") ? "--at" : changeRecordOption(path));
  return {
    body: { ...repeatRequest(earlier, { isDraft, begin }) },
    isDraft,
    translate: (error) => inTermsOfOptions(error, optionOf),
  };
}

async function requestOfOptions(
  context: CommandContext,
  {
    cluster = [],
    to,
    at,
    hosts: include,
    excludeHosts: exclude,
    hostsAtOnce,
    soakSeconds,
    toleratedFailures,
    skipFailedPrechecks,
    draft: isDraft = false,
  }: Omit<RequestOptions, "draft"> & { readonly draft?: boolean },
): Promise<UpgradeRequest> {
  if (cluster.length === 0 || to === undefined)
    throw wrongUsage(
      cluster.length > 0 ? "The target version is missing." : "The command does not say what to upgrade.",
      "Give a request with -f FILE, with --cluster NAME,NAME --to VERSION, or with --like UPGRADE.",
    );
  const clusters: Named[] = [];
  for (const name of cluster) clusters.push(await context.names.find("cluster", name));
  const hosts = include ? { include: [...include] } : exclude ? { exclude: [...exclude] } : undefined;
  if (hosts && clusters.length > 1)
    throw wrongUsage(
      "Hosts can be chosen for one cluster only.",
      "Give one --cluster, or a request with -f FILE that names the hosts of each cluster.",
    );
  const rollout: RolloutSpec = {
    ...(hostsAtOnce !== undefined && { hostsAtOnce }),
    ...(soakSeconds !== undefined && { soakSeconds }),
    ...(toleratedFailures !== undefined && { toleratedFailures }),
  };
  const bundle = await bundleNamed(context, to);
  const scheduledTimestamp = at === undefined ? undefined : context.readTime(at);
  const begin = scheduledTimestamp === undefined ? { upgradeNow: true } : { scheduledTimestamp };
  const body: UpgradeSpec = {
    bundleId: bundle.id,
    resourceType: "CLUSTER",
    resourceUpgradeSpecs: clusters.map(({ id }) => ({
      resourceId: id,
      ...(isDraft && scheduledTimestamp === undefined ? {} : begin),
      ...(hosts && { hosts }),
      ...(Object.keys(rollout).length > 0 && { rollout }),
    })),
    ...(isDraft && { draftMode: true }),
    ...(skipFailedPrechecks && { onPrecheckFailure: "SKIP_RESOURCE" }),
  };
  const optionOf = (path: string): string | undefined => {
    const [, index] = /^resourceUpgradeSpecs\[(\d+)\]/.exec(path) ?? [];
    if (path === "bundleId") return `--to ${to}`;
    if (path.endsWith("scheduledTimestamp")) return "--at";
    if (path.endsWith(".hostsAtOnce")) return "--hosts-at-once";
    if (path.endsWith(".soakSeconds")) return "--soak-seconds";
    if (path.endsWith(".toleratedFailures")) return "--tolerated-failures";
    if (path.includes(".hosts")) return include ? "--hosts" : "--exclude-hosts";
    const option = changeRecordOption(path);
    if (option !== undefined) return option;
    return index === undefined ? undefined : `--cluster ${clusters[Number(index)]?.names[0] ?? ""}`;
  };
  return { body: { ...body }, isDraft, translate: (error) => inTermsOfOptions(error, optionOf) };
}

/** Of several bundles of one version that which brings the fewest products: nothing is upgraded that was not asked for. */
export async function bundleNamed(context: CommandContext, text: string): Promise<Named> {
  let others: readonly Named[] = [];
  const bundle = await context.names.find("bundle", text, (several) => {
    const fewest = Math.min(...several.map(({ parts = [] }) => parts.length));
    const chosen = several.filter(({ parts = [] }) => parts.length === fewest && parts.includes("HOSTOS"));
    others = several.filter((one) => !chosen.includes(one));
    return chosen.length === 0 ? several : chosen;
  });
  context.say(`To: ${bundle.detail}, bundle ${bundle.id}`);
  for (const { id, detail } of others) context.say(`Not to: ${detail}, which is --to ${id}`);
  return bundle;
}

/**
 * The request in a file, JSON or YAML; `-` is the standard input. What is in it is the service's to judge, which tells
 * all that is wrong at once; only that it is an object is looked at here.
 */
async function readSpec(file: string, { stdin }: Pick<Environment, "stdin">): Promise<Record<string, unknown>> {
  const name = file === "-" ? "Standard input" : file;
  let content: string;
  try {
    content = file === "-" ? await text(stdin) : readFileSync(file, "utf8");
  } catch (error) {
    throw wrongUsage(
      `${name} cannot be read: ${(error as Error).message}.`,
      "Name a file with -f, or - for standard input.",
    );
  }
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw wrongUsage(`${name} is neither JSON nor YAML: ${(error as Error).message}`, "Correct its syntax.");
  }
  if (isObject(value)) return value;
  throw wrongUsage(`${name} contains no request.`, "Write an UpgradeSpec into it; examples/ has some to start from.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

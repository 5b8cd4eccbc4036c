import type { Task } from "../../domain/spec/task";
import type { Upgrade } from "../../domain/spec/upgrade";
import type { ResourceUpgradeSpec } from "../../domain/spec/upgrade-spec";
import { type AnyWords, clusterWords, requestWords } from "../labels/field-labels";
import { clusterNames } from "./header-facts";
import { shortList } from "./labels";

/** Options that a request asked for, of the same clusters, or of the whole upgrade. */
export interface AskedOptions {
  readonly of: string;
  /** `Quick boot: yes`. */
  readonly options: readonly string[];
}

type Fields = Readonly<Record<string, AnyWords>>;

/** What the request of an upgrade asked for beside bundle, clusters and times, in the words of the form. */
export function askedOptions(upgrade: Upgrade, task: Task): AskedOptions[] {
  const { resourceUpgradeSpecs = [], netvirtUpgradeUserInputSpecs, mgmtUpgradeUserInputSpecs } = upgrade;
  const names = clusterNames(upgrade, task);
  const groups = new Map<string, { options: string[]; names: string[] }>();
  resourceUpgradeSpecs.forEach(({ resourceId, scheduledTimestamp: _t, upgradeNow: _n, hosts, ...asked }, i) => {
    const options = [...describeHosts(hosts), ...describe(asked, clusterWords)];
    if (options.length === 0) return;
    const key = options.join("\n");
    const group = groups.get(key) ?? { options, names: [] };
    groups.set(key, { options, names: [...group.names, names[i] ?? resourceId] });
  });
  const rest = describe({ netvirtUpgradeUserInputSpecs, mgmtUpgradeUserInputSpecs }, requestWords);
  return [
    ...[...groups.values()].map(({ options, names: some }) => ({
      of: some.length === names.length && some.length > 1 ? "All clusters" : shortList(some),
      options,
    })),
    ...(rest.length > 0 ? [{ of: "The whole upgrade", options: rest }] : []),
  ];
}

function describeHosts({ include, exclude }: NonNullable<ResourceUpgradeSpec["hosts"]> = {}): string[] {
  return [
    ...(include ? [`Only the hosts ${shortList(include)}`] : []),
    ...(exclude ? [`Without the hosts ${shortList(exclude)}`] : []),
  ];
}

/** The fields of an object that have a value, deep ones under the labels of those that hold them. */
function describe(asked: Readonly<Record<string, unknown>>, words: Fields, above = ""): string[] {
  return Object.entries(asked).flatMap(([name, value]) => {
    const known = words[name];
    if (value === undefined || !known) return [];
    const label = `${above}${known.label}`;
    return (Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
      typeof one === "object" && one !== null
        ? describe(one as Record<string, unknown>, known.fields ?? {}, `${label}: `)
        : [`${label}: ${toWords(one, known)}`],
    );
  });
}

function toWords(value: unknown, { values = {} }: AnyWords): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return values[String(value)] ?? String(value);
}

import { canonicalId } from "./codec";
import type { NetvirtFacts, NetvirtMember } from "./installations";

/** The cluster that a client means: by its resource id, its id at its component manager, or its name. */
export function memberNamed({ members = [] }: Pick<NetvirtFacts, "members">, id: string): NetvirtMember | undefined {
  const same = (one: string) => canonicalId(one) === canonicalId(id);
  return (
    members.find(({ resourceId }) => same(resourceId)) ??
    members.find(({ cluster }) => same(cluster)) ??
    members.find(({ name }) => name === id)
  );
}

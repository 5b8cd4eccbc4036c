import type { NetvirtActivities, NetvirtTarget, UpgradeNetvirtComponentInput } from "../../activities/contract";
import {
  type NetvirtComponent,
  netvirtComponentOrder,
  type NetvirtComponentType,
} from "../../src/domain/task/netvirt-upgrade";
import { stagesOf } from "../../src/domain/task/resource-stages";

const at = "2026-11-01T00:00:00.000Z";

/** Components of which every one is still to be upgraded, with one group of two nodes each. */
export function sampleComponents({ targetVersion, options }: NetvirtTarget): NetvirtComponent[] {
  return netvirtComponentOrder(targetVersion, options.edgeOnly).map((type) => ({
    type,
    state: "TO_DO",
    groups:
      type === "FINALIZE_UPGRADE"
        ? []
        : [{ id: `${type}-group`, name: `${type} group`, included: true, nodeCount: 2, nodes: sampleNodes(type) }],
  }));
}

function sampleNodes(type: NetvirtComponentType) {
  return [1, 2].map((n) => ({
    id: `${type}-${n}`,
    name: `${type.toLowerCase()}-0${n}`,
    version: "4.2.1.0.0.24304122",
    status: "NOT_STARTED" as const,
    percent: 0,
  }));
}

/** NETVIRT Activities that succeed at once, and a record of what was asked of them; a test replaces those it is about. */
export class FakeNetvirtActivities {
  /** What was asked, in order: `name` or `upgrade COMPONENT`. */
  readonly calls: string[] = [];
  readonly upgrades: UpgradeNetvirtComponentInput[] = [];

  constructor(private readonly replaced: Partial<NetvirtActivities> = {}) {}

  implementation(): NetvirtActivities {
    return {
      runNetvirtPrechecks: async (target) => {
        this.calls.push("prechecks");
        return (await this.replaced.runNetvirtPrechecks?.(target)) ?? { stages: passedNetvirtCheck() };
      },
      readNetvirtUpgrade: async (target) => {
        this.calls.push("read");
        const previous = { plan: { HOST: { parallel: false } }, groups: [{ id: "HOST-group", enabled: true }] };
        return (await this.replaced.readNetvirtUpgrade?.(target)) ?? { components: sampleComponents(target), previous };
      },
      putNetvirtSettings: async (input) => {
        this.calls.push("put");
        await this.replaced.putNetvirtSettings?.(input);
      },
      restoreNetvirtSettings: async (input) => {
        this.calls.push("restore");
        await this.replaced.restoreNetvirtSettings?.(input);
      },
      upgradeNetvirtComponent: async (input) => {
        this.calls.push(`upgrade ${input.component}`);
        this.upgrades.push(input);
        return (
          (await this.replaced.upgradeNetvirtComponent?.(input)) ?? { component: input.component, outcome: "UPGRADED" }
        );
      },
    };
  }
}

function passedNetvirtCheck() {
  return stagesOf({ NETVIRT_GROUPS_KNOWN: "Clusters known" }, at).map((stage) => ({
    ...stage,
    status: "SUCCESSFUL" as const,
    completionTimestamp: at,
  }));
}

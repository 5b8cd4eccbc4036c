import type { ServiceUnderTest } from "../../../support/service/service-under-test";

interface Host {
  readonly maintenance: string;
  readonly poweredOnVms: number;
  readonly poweredOffVms: number;
  readonly suspendedVms: number;
}

interface State {
  readonly clusters: readonly {
    readonly id: string;
    readonly policy: unknown;
    readonly admissionControl: unknown;
    readonly dpm: unknown;
    readonly drafts: readonly unknown[];
    readonly hosts: readonly Host[];
  }[];
  readonly nsxManagers: readonly {
    readonly components: readonly Readonly<Record<string, unknown>>[];
    readonly groups: readonly Readonly<Record<string, unknown>>[];
  }[];
}

const sum = (hosts: readonly Host[], of: "poweredOnVms" | "poweredOffVms" | "suspendedVms") =>
  hosts.reduce((all, host) => all + host[of], 0);

/** Everything of the component managers that an upgrade may change for its time and has to leave as it was. */
export async function settingsOf(service: ServiceUnderTest): Promise<unknown> {
  const { clusters, nsxManagers } = await service.simulated<State>();
  return {
    clusters: clusters.map(({ id, policy, admissionControl, dpm, hosts }) => ({
      ...{ id, policy, admissionControl, dpm },
      maintenance: hosts.map(({ maintenance }) => maintenance),
      // They move among the hosts.
      vms: [sum(hosts, "poweredOnVms"), sum(hosts, "poweredOffVms"), sum(hosts, "suspendedVms")],
    })),
    netvirt: nsxManagers.map(({ components, groups }) => ({
      components: components.map(({ type, parallel, pauseAfterEachGroup, pauseOnError }) => ({
        ...{ type, parallel, pauseAfterEachGroup, pauseOnError },
      })),
      groups: groups.map(({ units: _, revision: __, ...settings }) => settings),
    })),
  };
}

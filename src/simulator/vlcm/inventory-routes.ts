import type Router from "@koa/router";
import type { World } from "../state/world";
import { VapiError } from "./vapi-error";
import { clusterOf, withSession } from "./vlcm-calls";

/** The most entries that the product gives in one list. */
const maximum = { clusters: 1000, hosts: 2500 };

/** Whether a value passes a repeated query parameter; one that is absent lets everything pass. */
function passes(query: URLSearchParams, name: string, value: string): boolean {
  const wanted = query.getAll(name);
  return wanted.length === 0 || wanted.includes(value);
}

function atMost<A>(list: A[], limit: number): A[] {
  if (list.length > limit)
    throw new VapiError("UNABLE_TO_ALLOCATE_RESOURCE", "list.too_long", `More than ${limit} match; narrow the filter.`);
  return list;
}

/** Clusters and hosts, and whether a cluster is managed with a single image. */
export function inventoryRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  calls.get("/vcenter/cluster", ({ query }) => {
    const found = world.state.clusters.filter(
      ({ id, name }) => passes(query, "clusters", id) && passes(query, "names", name),
    );
    const summaries = found.map(({ id, name, haEnabled, drsEnabled }) => ({
      cluster: id,
      name,
      ha_enabled: haEnabled,
      drs_enabled: drsEnabled,
    }));
    return { status: 200, body: atMost(summaries, maximum.clusters) };
  });

  calls.get("/vcenter/host", ({ query }) => {
    const found = world.state.clusters
      .filter(({ id }) => passes(query, "clusters", id))
      .flatMap(({ hosts }) => hosts)
      .filter(
        ({ id, name, connection }) =>
          passes(query, "hosts", id) && passes(query, "names", name) && passes(query, "connection_states", connection),
      );
    const summaries = found.map(({ id, name, connection, power }) => ({
      host: id,
      name,
      connection_state: connection,
      // The product does not know the power state of a host that it cannot reach.
      ...(connection === "CONNECTED" && { power_state: power }),
    }));
    return { status: 200, body: atMost(summaries, maximum.hosts) };
  });

  calls.get("/esx/settings/clusters/:cluster/enablement/software", (call) => ({
    status: 200,
    body: { enabled: clusterOf(world, call).management === "IMAGE" },
  }));
}

import { Cluster, PageOfCluster } from "../domain/cluster";
import { ResourceId } from "../domain/codec";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import { clusterExample, pageOfClusterExample } from "./openapi/examples";
import { pageRequested, paging } from "./parameters";
import { noParameters, route, type Route } from "./route";

/** What can be upgraded: the clusters of the inventory, with what is known of them now. */
export function clustersRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/clusters",
      access: "READ",
      role: "VIEWER",
      load: "INVENTORY",
      operationId: "listClusters",
      tag: "clusters",
      summary: "List the clusters that can be upgraded",
      description: "Where a component manager does not answer, its clusters have errors instead of what it would say.",
      request: { ...noParameters, query: paging },
      success: { status: 200, description: "Ok", representation: json(PageOfCluster) },
      successExample: pageOfClusterExample,
      failures: [400, 500],
      handle: ({ query }) => service.listClusters(pageRequested(query)),
    }),
    route({
      method: "GET",
      path: "/v1/clusters/{id}",
      access: "READ",
      role: "VIEWER",
      load: "INVENTORY",
      operationId: "getCluster",
      tag: "clusters",
      summary: "Read one cluster with its hosts",
      request: { ...noParameters, path: { id: ResourceId } },
      unknownPath: ({ id = "" }) => notFound("cluster", id),
      success: { status: 200, description: "Ok", representation: json(Cluster) },
      successExample: clusterExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readCluster(path.id),
    }),
  ];
}

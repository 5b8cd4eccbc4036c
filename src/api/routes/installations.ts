import type { TaskEither } from "fp-ts/TaskEither";
import type * as t from "io-ts";
import { ResourceId } from "../../domain/codec";
import type { PageRequest } from "../../domain/page";
import { Bundle, PageOfBundle } from "../../domain/spec/bundle";
import { Cluster, PageOfCluster } from "../../domain/spec/cluster";
import {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../../domain/spec/installations";
import { notFound, type ServiceError } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import type { RouteLoad } from "../load-control";
import {
  bundleExample,
  clusterExample,
  pageOfBundleExample,
  pageOfClusterExample,
  pageOfIsoExample,
  pageOfManagementServerExample,
  pageOfNetvirtExample,
  pageOfPersonalityExample,
} from "../openapi/examples";
import { pageRequested, paging, parameter } from "../parameters";
import { json } from "../response";
import { noParameters, route, type Route } from "../route";

/** What resources can be upgraded to (Spec 2.6). */
export function bundlesRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/bundles",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "listBundles",
      tag: "bundles",
      summary: "List the bundles of the catalog",
      request: { ...noParameters, query: paging },
      success: { status: 200, description: "Ok", representation: json(PageOfBundle) },
      successExample: pageOfBundleExample,
      failures: [400, 500],
      handle: ({ query }) => service.listBundles(pageRequested(query)),
    }),
    route({
      method: "GET",
      path: "/v1/bundles/{id}",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "getBundle",
      tag: "bundles",
      summary: "Read one bundle",
      request: { ...noParameters, path: { id: parameter(ResourceId, "Id of the bundle.") } },
      unknownPath: ({ id = "" }) => notFound("bundle", id),
      success: { status: 200, description: "Ok", representation: json(Bundle) },
      successExample: bundleExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readBundle(path.id),
    }),
  ];
}

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
      description: "If a component manager does not answer, its clusters have errors instead of its data.",
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
      request: { ...noParameters, path: { id: parameter(ResourceId, "Id of the cluster.") } },
      unknownPath: ({ id = "" }) => notFound("cluster", id),
      success: { status: 200, description: "Ok", representation: json(Cluster) },
      successExample: clusterExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readCluster(path.id),
    }),
  ];
}

interface InventoryList<A extends object> {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly load: RouteLoad;
  readonly codec: t.Type<A, unknown, unknown>;
  readonly example: A;
  readonly list: (page?: PageRequest) => TaskEither<ServiceError, A>;
}

/** What else of the inventory a request can name, beside clusters: every id that it may carry can be looked up. */
export function installationsRoutes(service: UpgradeService): Route[] {
  return [
    inventoryList({
      path: "/v1/netvirt",
      operationId: "listNetvirt",
      summary: "List the NETVIRT instances with their host and edge clusters",
      description:
        "If an upgrade coordinator does not answer, its instance has errors instead. hostClusterId and edgeClusterId of a request take the id or the name of a group here, and hostClusterId also the id of a cluster, here or at its component manager.",
      load: "INVENTORY",
      codec: PageOfNetvirtInstance,
      example: pageOfNetvirtExample,
      list: (page) => service.listNetvirt(page),
    }),
    inventoryList({
      path: "/v1/management-servers",
      operationId: "listManagementServers",
      summary: "List the management servers",
      load: "READ",
      codec: PageOfManagementServer,
      example: pageOfManagementServerExample,
      list: (page) => service.listManagementServers(page),
    }),
    inventoryList({
      path: "/v1/personalities",
      operationId: "listPersonalities",
      summary: "List the target images of image-managed clusters",
      load: "READ",
      codec: PageOfPersonality,
      example: pageOfPersonalityExample,
      list: (page) => service.listPersonalities(page),
    }),
    inventoryList({
      path: "/v1/isos",
      operationId: "listIsos",
      summary: "List the target ISOs of baseline-managed clusters",
      load: "READ",
      codec: PageOfIso,
      example: pageOfIsoExample,
      list: (page) => service.listIsos(page),
    }),
  ];
}

function inventoryList<A extends object>({ codec, example, list, ...described }: InventoryList<A>): Route {
  return route({
    ...described,
    method: "GET",
    access: "READ",
    role: "VIEWER",
    tag: "inventory",
    request: { ...noParameters, query: paging },
    success: { status: 200, description: "Ok", representation: json(codec) },
    successExample: example,
    failures: [400, 500],
    handle: ({ query }) => list(pageRequested(query)),
  });
}

import type * as t from "io-ts";
import type { TaskEither } from "fp-ts/TaskEither";
import { PageOfIso, PageOfManagementServer, PageOfNetvirtInstance, PageOfPersonality } from "../domain/installed";
import type { PageRequest } from "../domain/page";
import type { ServiceError } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import {
  pageOfIsoExample,
  pageOfManagementServerExample,
  pageOfNetvirtExample,
  pageOfPersonalityExample,
} from "./openapi/examples";
import { pageRequested, paging } from "./parameters";
import { noParameters, route, type Route } from "./route";
import type { RouteLoad } from "./load-control";

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
        "Where an upgrade coordinator does not answer, its instance has errors instead. hostClusterId and edgeClusterId of a request take the id or the name of a group here, and hostClusterId also the id of a cluster, here or at its component manager.",
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
      summary: "List the images that image-managed clusters can be brought to",
      load: "READ",
      codec: PageOfPersonality,
      example: pageOfPersonalityExample,
      list: (page) => service.listPersonalities(page),
    }),
    inventoryList({
      path: "/v1/isos",
      operationId: "listIsos",
      summary: "List the ISOs that baseline-managed clusters can be brought to",
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

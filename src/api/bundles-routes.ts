import { Bundle, PageOfBundle } from "../domain/bundle";
import { ResourceId } from "../domain/codec";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import { bundleExample, pageOfBundleExample } from "./openapi/examples";
import { pageRequested, paging } from "./parameters";
import { noParameters, route, type Route } from "./route";

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
      request: { ...noParameters, path: { id: ResourceId } },
      unknownPath: ({ id = "" }) => notFound("bundle", id),
      success: { status: 200, description: "Ok", representation: json(Bundle) },
      successExample: bundleExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readBundle(path.id),
    }),
  ];
}

import { roleCovers } from "../../authentication/authentication";
import { Identifier, ResourceId } from "../../domain/codec";
import { Hold, HoldSpec, PageOfHold } from "../../domain/hold";
import { notFound } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import { clusterHoldExample, holdSpecExample, hostHoldExample, pageOfHoldExample } from "../openapi/examples";
import { pageRequested, paging, parameter } from "../parameters";
import { json, nothing } from "../response";
import { noParameters, route, type Route } from "../route";

const oneCluster = { id: parameter(ResourceId, "Id of the cluster.") };
const oneHost = { ...oneCluster, hostId: parameter(Identifier, "Id or name of the host.") };
const unknownCluster = ({ id = "" }: Readonly<Record<string, string | undefined>>) => notFound("cluster", id);

const common = {
  access: "WRITE",
  role: "OPERATOR",
  load: "COMMAND",
  tag: "holds",
  unknownPath: unknownCluster,
} as const;
const placed = { status: 200, description: "The hold as it now is", representation: json(Hold) };
const released = { status: 204, description: "Nothing is held", representation: nothing };
const ofOthers = "Changing another operator's hold needs the role ADMIN.";

/** Holds of clusters and of hosts. */
export function holdRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/holds",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "listHolds",
      tag: "holds",
      summary: "List the holds in force",
      description: "The oldest first. Changes appear within a second or two.",
      request: { ...noParameters, query: paging },
      success: { status: 200, description: "Ok", representation: json(PageOfHold) },
      successExample: pageOfHoldExample,
      failures: [400, 500],
      handle: ({ query }) => service.listHolds(pageRequested(query)),
    }),
    route({
      ...common,
      method: "PUT",
      path: "/v1/clusters/{id}/hold",
      operationId: "holdCluster",
      summary: "Hold a cluster",
      description: `Nothing of the cluster begins any more; hosts in work finish. Running upgrades of it wait, starts and commits are refused, drafts can be created. Replaces an earlier hold of the cluster. ${ofOthers}`,
      request: { ...noParameters, path: oneCluster, body: HoldSpec, unknownFields: "REFUSED" },
      bodyExample: holdSpecExample,
      success: placed,
      successExample: clusterHoldExample,
      failures: [400, 403, 404, 424, 500],
      handle: ({ path, body, caller, role }) =>
        service.putHold({ clusterId: path.id }, body, { caller, isAdmin: roleCovers(role, "ADMIN") }),
    }),
    route({
      ...common,
      method: "DELETE",
      path: "/v1/clusters/{id}/hold",
      operationId: "releaseCluster",
      summary: "Release a cluster",
      description: `What waited for the end of the hold continues within seconds. Also succeeds if nothing is held. ${ofOthers}`,
      request: { ...noParameters, path: oneCluster },
      success: released,
      failures: [400, 403, 404, 424, 500],
      handle: ({ path, caller, role }) =>
        service.releaseHold({ clusterId: path.id }, { caller, isAdmin: roleCovers(role, "ADMIN") }),
    }),
    route({
      ...common,
      method: "PUT",
      path: "/v1/clusters/{id}/hosts/{hostId}/hold",
      operationId: "holdHost",
      summary: "Hold a host",
      description: `Upgrades leave the host out when its turn comes (\`HELD\`) and end with a warning. A host in work finishes, but gets no further attempt. Replaces an earlier hold of the host. ${ofOthers}`,
      request: { ...noParameters, path: oneHost, body: HoldSpec, unknownFields: "REFUSED" },
      bodyExample: holdSpecExample,
      success: placed,
      successExample: hostHoldExample,
      failures: [400, 403, 404, 424, 500],
      handle: ({ path, body, caller, role }) =>
        service.putHold({ clusterId: path.id, hostId: path.hostId }, body, {
          caller,
          isAdmin: roleCovers(role, "ADMIN"),
        }),
    }),
    route({
      ...common,
      method: "DELETE",
      path: "/v1/clusters/{id}/hosts/{hostId}/hold",
      operationId: "releaseHost",
      summary: "Release a host",
      description: `Also succeeds if nothing is held. ${ofOthers}`,
      request: { ...noParameters, path: oneHost },
      success: released,
      failures: [400, 403, 404, 424, 500],
      handle: ({ path, caller, role }) =>
        service.releaseHold(
          { clusterId: path.id, hostId: path.hostId },
          { caller, isAdmin: roleCovers(role, "ADMIN") },
        ),
    }),
  ];
}

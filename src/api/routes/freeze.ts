import { Identifier } from "../../domain/codec";
import { FreezeSpec, FreezeStatus } from "../../domain/freeze";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import { freezeExample, freezeSpecExample } from "../openapi/examples";
import { parameter } from "../parameters";
import { json, type Success } from "../response";
import { noParameters, route, type Route } from "../route";

const answersStatus: Success<FreezeStatus> = { status: 200, description: "Ok", representation: json(FreezeStatus) };

/** The emergency stop. */
export function freezeRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/freeze",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "readFreeze",
      tag: "freeze",
      summary: "Read what is frozen",
      request: noParameters,
      success: answersStatus,
      successExample: freezeExample,
      failures: [400, 500],
      handle: () => service.readFreeze(),
    }),
    route({
      method: "PUT",
      path: "/v1/freeze",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "putFreeze",
      tag: "freeze",
      summary: "Freeze domains, or everything",
      description:
        "The emergency stop. Within 5 seconds of the answer no resource, host, component or switchover begins any more in these domains; hosts in work finish. Starts and commits are refused, drafts can be created. Replaces an earlier freeze of the same domains, or of everything; other freezes stay.",
      request: { ...noParameters, body: FreezeSpec, unknownFields: "REFUSED" },
      bodyExample: freezeSpecExample,
      success: answersStatus,
      successExample: freezeExample,
      failures: [400, 403, 424, 500],
      handle: ({ body, caller }) => service.putFreeze(body, caller),
    }),
    route({
      method: "DELETE",
      path: "/v1/freeze",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "liftFreeze",
      tag: "freeze",
      summary: "Lift freezes",
      description:
        "What waited for the end of the freeze continues within seconds; what an operator paused stays paused. Also succeeds if nothing is frozen.",
      request: {
        ...noParameters,
        query: { domain: parameter(Identifier, "Only the freeze of the domain with this id. Absent: all freezes.") },
      },
      success: answersStatus,
      successExample: { frozen: false, freezes: [], hostsInWork: 0 },
      failures: [400, 403, 424, 500],
      handle: ({ query, caller }) => service.liftFreeze(query.domain, caller),
    }),
  ];
}

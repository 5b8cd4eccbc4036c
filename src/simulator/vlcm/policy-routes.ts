import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import { decodePolicy, effectivePolicy, type RemediationPolicy } from "../state/remediation-policy";
import type { World } from "../state/world";
import { invalidArgument } from "./vapi-error";
import { imageClusterOf, withSession } from "./vlcm-calls";

function policyOf(body: unknown): RemediationPolicy {
  const policy = decodePolicy(body);
  if (E.isLeft(policy)) throw invalidArgument(policy.left);
  return policy.right;
}

/** The remediation policy of a cluster and of all clusters. A PUT replaces the whole policy. */
export function policyRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const ofCluster = "/esx/settings/clusters/:cluster/policies/apply";
  const ofAll = "/esx/settings/defaults/clusters/policies/apply";

  calls.get(ofCluster, (call) => ({ status: 200, body: imageClusterOf(world, call).policy }));

  calls.put(ofCluster, (call) => {
    const cluster = imageClusterOf(world, call);
    cluster.policy = policyOf(call.body);
    world.record({ at: world.now(), cluster: cluster.id, step: "POLICY_SET", detail: JSON.stringify(cluster.policy) });
    world.changed(cluster);
    return { status: 204 };
  });

  calls.get(`${ofCluster}/effective`, (call) => ({
    status: 200,
    body: effectivePolicy(world.state.global.defaultPolicy, imageClusterOf(world, call).policy),
  }));

  calls.get(ofAll, () => ({ status: 200, body: world.state.global.defaultPolicy }));

  calls.put(ofAll, ({ body }) => {
    world.state.global.defaultPolicy = policyOf(body);
    world.changed();
    return { status: 204 };
  });

  calls.get(`${ofAll}/effective`, () => ({ status: 200, body: effectivePolicy(world.state.global.defaultPolicy) }));
}

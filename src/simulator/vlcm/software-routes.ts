import type Router from "@koa/router";
import * as t from "io-ts";
import { ListOf, model } from "../../domain/codec";
import { hasImage } from "../state/image-extras";
import { desiredImage, type ClusterState, type CommitState } from "../state/simulator-state";
import type { World } from "../state/world";
import { runningApply, startApply, startTask } from "../timeline/tasks";
import { decodeBody } from "./decode-body";
import { baseImage, software } from "./image-view";
import { invalidArgument, VapiError } from "./vapi-error";
import { actionOf, clusterOf, imageClusterOf, withSession, type VlcmCall } from "./vlcm-calls";

const HostSelection = model({}, { commit: t.string, hosts: ListOf(t.string, { max: 128 }) });
const ApplySpec = model({}, { commit: t.string, hosts: ListOf(t.string, { max: 128 }), accept_eula: t.boolean });

/** The hosts that a call means, all of the cluster where it names none. */
function selectHosts(cluster: ClusterState, hosts: readonly string[] | undefined): string[] {
  const ids = cluster.hosts.map(({ id }) => id);
  if (hosts === undefined) return ids;
  const strangers = hosts.filter((host) => !ids.includes(host));
  if (strangers.length > 0)
    throw invalidArgument(strangers.map((host) => `hosts: ${host} is no host of cluster ${cluster.name}`));
  return [...new Set(hosts)];
}

/** A commit is a floor: the latest is applied, and what is named must not be after it. */
function checkCommit(cluster: ClusterState, commit: string | undefined): void {
  if (commit !== undefined && !cluster.commits.some(({ id }) => id === commit))
    throw invalidArgument([`commit: cluster ${cluster.name} has no commit ${commit}`]);
}

function refuseWhileApplying(world: World, cluster: ClusterState): void {
  const inProgress = world.findFault(["OPERATION_IN_PROGRESS"], { cluster: cluster.id });
  if (inProgress) world.useFault(inProgress);
  if (inProgress || runningApply(cluster))
    throw new VapiError(
      "NOT_ALLOWED_IN_CURRENT_STATE",
      "cluster.operation_in_progress",
      `Another operation is in progress on cluster ${cluster.name}.`,
    );
}

function apply(world: World, cluster: ClusterState, desired: CommitState, { body, session }: VlcmCall): string {
  const spec = decodeBody(ApplySpec, body ?? {});
  checkCommit(cluster, spec.commit);
  const hosts = selectHosts(cluster, spec.hosts);
  const eula = world.findFault(["EULA_NOT_ACCEPTED"], { cluster: cluster.id });
  if (eula) world.useFault(eula);
  if (spec.accept_eula !== true || eula)
    throw new VapiError("ERROR", "apply.eula_not_accepted", "The end user license agreement was not accepted.");
  refuseWhileApplying(world, cluster);
  const isDone = cluster.hosts
    .filter(({ id }) => hosts.includes(id))
    .every((host) => hasImage(host, desired) && host.connection === "CONNECTED");
  if (isDone)
    throw new VapiError(
      "ALREADY_IN_DESIRED_STATE",
      "apply.already_compliant",
      "The hosts have the desired image already.",
    );
  return startApply(world, cluster, hosts, session.user).id;
}

/** The desired image of a cluster, and the tasks that compare, check, stage and apply it. */
export function softwareRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const path = "/esx/settings/clusters/:cluster/software";

  const desiredOf = (call: VlcmCall): CommitState => {
    const desired = desiredImage(imageClusterOf(world, call));
    if (!desired) throw new VapiError("NOT_FOUND", "cluster.no_image", "The cluster has no desired image.");
    return desired;
  };

  calls.get(path, (call) => ({ status: 200, body: software(world.config, desiredOf(call)) }));

  calls.get(`${path}/base-image`, (call) => ({ status: 200, body: baseImage(world.config, desiredOf(call).version) }));

  calls.get(`${path}/commits/:commit`, (call) => {
    const cluster = imageClusterOf(world, call);
    const commit = cluster.commits.find(({ id }) => id === call.params["commit"]);
    if (!commit) throw new VapiError("NOT_FOUND", "commit.not_found", `There is no commit ${call.params["commit"]}.`);
    const isApplied = cluster.hosts.every((host) => hasImage(host, commit));
    return {
      status: 200,
      body: {
        author: commit.author,
        commit_time: new Date(commit.at).toISOString(),
        description: commit.message,
        apply_status: isApplied ? "APPLIED" : "NOT_APPLIED",
      },
    };
  });

  calls.post(path, (call) => {
    const cluster = clusterOf(world, call);
    const action = actionOf(call, ["scan", "check", "stage", "apply"]);
    const desired = desiredImage(cluster);
    if (!desired) throw invalidArgument([`cluster: ${cluster.name} is not managed with a single image`]);
    if (action === "apply") return { status: 202, body: apply(world, cluster, desired, call) };

    const { commit, hosts } = decodeBody(HostSelection, call.body ?? {});
    checkCommit(cluster, commit);
    if (action === "stage") refuseWhileApplying(world, cluster);
    const selected = selectHosts(cluster, action === "scan" ? undefined : hosts);
    const task = startTask(world, cluster, { kind: action, user: call.session.user, hosts: selected });
    return { status: 202, body: task.id };
  });
}

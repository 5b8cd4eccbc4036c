import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { ListOf, model, OneOf } from "../../domain/codec";
import { decodeStrictly } from "../config/decode-strictly";
import type { SimulatorContext } from "../state/context";
import { hasImage, type Image, imageProblems } from "../state/image-extras";
import { type ClusterState, type CommitState, desiredImage, type DraftState } from "../state/simulator-state";
import { runningApply, startApply, startTask } from "../timeline/tasks";
import { baseImage, software } from "./compliance-view";
import { invalidArgument, VapiError } from "./vapi-error";
import { decodeBody } from "./vapi-router";
import { actionOf, clusterOf, imageClusterOf, type VlcmCall, withSession } from "./vlcm-calls";

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

function refuseWhileApplying(context: SimulatorContext, cluster: ClusterState): void {
  const inProgress = context.findFault(["OPERATION_IN_PROGRESS"], { cluster: cluster.id });
  if (inProgress) context.useFault(inProgress);
  if (inProgress || runningApply(cluster))
    throw new VapiError(
      "NOT_ALLOWED_IN_CURRENT_STATE",
      "cluster.operation_in_progress",
      `Another operation is in progress on cluster ${cluster.name}.`,
    );
}

function apply(
  context: SimulatorContext,
  cluster: ClusterState,
  desired: CommitState,
  { body, session }: VlcmCall,
): string {
  const spec = decodeBody(ApplySpec, body ?? {});
  checkCommit(cluster, spec.commit);
  const hosts = selectHosts(cluster, spec.hosts);
  const eula = context.findFault(["EULA_NOT_ACCEPTED"], { cluster: cluster.id });
  if (eula) context.useFault(eula);
  if (spec.accept_eula !== true || eula)
    throw new VapiError("ERROR", "apply.eula_not_accepted", "The end user license agreement was not accepted.");
  refuseWhileApplying(context, cluster);
  const isDone = cluster.hosts
    .filter(({ id }) => hosts.includes(id))
    .every((host) => hasImage(host, desired) && host.connection === "CONNECTED");
  if (isDone)
    throw new VapiError(
      "ALREADY_IN_DESIRED_STATE",
      "apply.already_compliant",
      "The hosts have the desired image already.",
    );
  return startApply(context, cluster, hosts, session.user).id;
}

/** The desired image of a cluster, and the tasks that compare, check, stage and apply it. */
export function softwareRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);
  const path = "/esx/settings/clusters/:cluster/software";

  const desiredOf = (call: VlcmCall): CommitState => {
    const desired = desiredImage(imageClusterOf(context, call));
    if (!desired) throw new VapiError("NOT_FOUND", "cluster.no_image", "The cluster has no desired image.");
    return desired;
  };

  calls.get(path, (call) => ({ status: 200, body: software(context.config, desiredOf(call)) }));

  calls.get(`${path}/base-image`, (call) => ({
    status: 200,
    body: baseImage(context.config, desiredOf(call).version),
  }));

  calls.get(`${path}/commits/:commit`, (call) => {
    const cluster = imageClusterOf(context, call);
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
    const cluster = clusterOf(context, call);
    const action = actionOf(call, ["scan", "check", "stage", "apply"]);
    const desired = desiredImage(cluster);
    if (!desired) throw invalidArgument([`cluster: ${cluster.name} is not managed with a single image`]);
    if (action === "apply") return { status: 202, body: apply(context, cluster, desired, call) };

    const { commit, hosts } = decodeBody(HostSelection, call.body ?? {});
    checkCommit(cluster, commit);
    if (action === "stage") refuseWhileApplying(context, cluster);
    const selected = selectHosts(cluster, action === "scan" ? undefined : hosts);
    const task = startTask(context, cluster, { kind: action, user: call.session.user, hosts: selected });
    return { status: 202, body: task.id };
  });
}

const BaseImageSpec = model({ version: t.string }, {});
const CommitSpec = model({}, { message: t.string, orchestrator: model({}, { owner: t.string, owner_data: t.string }) });
const ImportSpec = model({ source_type: OneOf("JSON_STRING"), software_spec: t.string }, { display_name: t.string });
const AddOnSpec = model({ name: t.string, version: t.string }, {});
const HardwareSupportSpec = model(
  { packages: t.record(t.string, model({ pkg: t.string }, { version: t.string })) },
  {},
);
/** An image as it is exported and imported. Solutions belong to other products, so what is said of them is ignored. */
const SoftwareSpec = model(
  { base_image: BaseImageSpec },
  {
    add_on: AddOnSpec,
    components: t.record(t.string, t.string),
    hardware_support: HardwareSupportSpec,
    solutions: t.unknown,
  },
);

function importedImage(body: unknown): Image {
  const { software_spec: text } = decodeBody(ImportSpec, body);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalidArgument(["software_spec: is no JSON"]);
  }
  const spec = decodeStrictly(SoftwareSpec, document);
  if (E.isLeft(spec)) throw invalidArgument(spec.left.map((problem) => `software_spec: ${problem}`));
  const { base_image, add_on, components = {}, hardware_support } = spec.right;
  const packages = Object.entries(hardware_support?.packages ?? {});
  return {
    version: base_image.version,
    extras: {
      ...(add_on && { addOn: { name: add_on.name, version: add_on.version } }),
      ...(Object.keys(components).length > 0 && { components }),
      ...(packages.length > 0 && {
        hardwareSupport: Object.fromEntries(
          packages.map(([manager, { pkg, version = "" }]) => [manager, { pkg, version }]),
        ),
      }),
    },
  };
}

/** Drafts of a desired image: made, changed, validated, and committed as the cluster's next one. */
export function draftRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);
  const path = "/esx/settings/clusters/:cluster/software/drafts";

  function draftOf(call: VlcmCall): { cluster: ClusterState; draft: DraftState } {
    const cluster = imageClusterOf(context, call);
    const draft = cluster.drafts.find(({ id }) => id === call.params["draft"]);
    if (!draft) throw new VapiError("NOT_FOUND", "draft.not_found", `There is no draft ${call.params["draft"]}.`);
    return { cluster, draft };
  }

  const metadata = (draft: DraftState) => ({
    owner: draft.owner,
    status: imageProblems(context.config, draft).length === 0 ? "VALID" : "INVALID",
    creation_time: new Date(draft.createdAt).toISOString(),
  });

  calls.get(path, (call) => {
    const owners = call.query.getAll("owners");
    const drafts = imageClusterOf(context, call).drafts.filter(
      ({ owner }) => owners.length === 0 || owners.includes(owner),
    );
    return { status: 200, body: Object.fromEntries(drafts.map((draft) => [draft.id, { metadata: metadata(draft) }])) };
  });

  calls.post(path, (call) => {
    const cluster = imageClusterOf(context, call);
    const { user } = call.session;
    if (cluster.drafts.some(({ owner }) => owner === user))
      throw new VapiError(
        "ALREADY_EXISTS",
        "draft.already_exists",
        `User ${user} has a draft of this cluster already.`,
      );
    const isImport = call.query.get("action") === "import-software-spec";
    const { version, extras }: Image = isImport ? importedImage(call.body) : (desiredImage(cluster) ?? { version: "" });
    const draft: DraftState = {
      id: `draft-${context.state.global.nextDraft++}`,
      owner: user,
      createdAt: context.now(),
      version,
      ...(extras && { extras }),
    };
    cluster.drafts.push(draft);
    context.changed(cluster);
    return { status: 200, body: draft.id };
  });

  calls.get(`${path}/:draft`, (call) => {
    const { draft } = draftOf(call);
    return { status: 200, body: { metadata: metadata(draft), software: software(context.config, draft) } };
  });

  calls.delete(`${path}/:draft`, (call) => {
    const { cluster, draft } = draftOf(call);
    cluster.drafts = cluster.drafts.filter(({ id }) => id !== draft.id);
    context.changed(cluster);
    return { status: 204 };
  });

  calls.get(`${path}/:draft/software/base-image`, (call) => ({
    status: 200,
    body: baseImage(context.config, draftOf(call).draft.version),
  }));

  calls.put(`${path}/:draft/software/base-image`, (call) => {
    const { cluster, draft } = draftOf(call);
    draft.version = decodeBody(BaseImageSpec, call.body).version;
    context.changed(cluster);
    return { status: 204 };
  });

  calls.post(`${path}/:draft`, (call) => {
    const { cluster, draft } = draftOf(call);
    const { user } = call.session;
    const kind = actionOf(call, ["validate", "commit"]);
    if (kind === "validate") {
      const { id, version, extras = {} } = draft;
      const task = startTask(context, cluster, { kind, user, draft: id, version, extras });
      return { status: 202, body: task.id };
    }
    const { message } = decodeBody(CommitSpec, call.body);
    const problems = imageProblems(context.config, draft);
    if (problems.length > 0) throw invalidArgument(problems);
    if (runningApply(cluster))
      throw new VapiError(
        "NOT_ALLOWED_IN_CURRENT_STATE",
        "cluster.operation_in_progress",
        "A remediation is in progress.",
      );
    const task = startTask(context, cluster, {
      kind,
      user,
      draft: draft.id,
      ...(message !== undefined && { message }),
    });
    return { status: 202, body: task.id };
  });
}

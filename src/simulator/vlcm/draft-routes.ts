import type Router from "@koa/router";
import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";
import { desiredImage, type ClusterState, type DraftState } from "../state/simulator-state";
import type { World } from "../state/world";
import { runningApply, startTask } from "../timeline/tasks";
import { decodeBody } from "./decode-body";
import { baseImage, software } from "./image-view";
import { invalidArgument, VapiError } from "./vapi-error";
import { actionOf, imageClusterOf, withSession, type VlcmCall } from "./vlcm-calls";

const BaseImageSpec = model({ version: t.string }, {});
const CommitSpec = model({}, { message: t.string, orchestrator: model({}, { owner: t.string, owner_data: t.string }) });
const ImportSpec = model({ source_type: OneOf("JSON_STRING"), software_spec: t.string }, { display_name: t.string });
/** Of an imported image only the base image matters here; the rest of it may be anything. */
const SoftwareSpec = t.type({ base_image: t.type({ version: t.string }) });

function importedVersion(body: unknown): string {
  const { software_spec: text } = decodeBody(ImportSpec, body);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw invalidArgument(["software_spec: is no JSON"]);
  }
  if (!SoftwareSpec.is(document)) throw invalidArgument(["software_spec: has no base_image.version"]);
  return document.base_image.version;
}

/** Drafts of a desired image: made, changed, validated, and committed as the cluster's next one. */
export function draftRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const path = "/esx/settings/clusters/:cluster/software/drafts";
  const isOffered = (version: string) => world.config.depot.some((image) => image.version === version);

  function draftOf(call: VlcmCall): { cluster: ClusterState; draft: DraftState } {
    const cluster = imageClusterOf(world, call);
    const draft = cluster.drafts.find(({ id }) => id === call.params["draft"]);
    if (!draft) throw new VapiError("NOT_FOUND", "draft.not_found", `There is no draft ${call.params["draft"]}.`);
    return { cluster, draft };
  }

  const metadata = (draft: DraftState) => ({
    owner: draft.owner,
    status: isOffered(draft.version) ? "VALID" : "INVALID",
    creation_time: new Date(draft.createdAt).toISOString(),
  });

  calls.get(path, (call) => {
    const owners = call.query.getAll("owners");
    const drafts = imageClusterOf(world, call).drafts.filter(
      ({ owner }) => owners.length === 0 || owners.includes(owner),
    );
    return { status: 200, body: Object.fromEntries(drafts.map((draft) => [draft.id, { metadata: metadata(draft) }])) };
  });

  calls.post(path, (call) => {
    const cluster = imageClusterOf(world, call);
    const { user } = call.session;
    if (cluster.drafts.some(({ owner }) => owner === user))
      throw new VapiError(
        "ALREADY_EXISTS",
        "draft.already_exists",
        `User ${user} has a draft of this cluster already.`,
      );
    const isImport = call.query.get("action") === "import-software-spec";
    const version = isImport ? importedVersion(call.body) : (desiredImage(cluster)?.version ?? "");
    const draft: DraftState = {
      id: `draft-${world.state.global.nextDraft++}`,
      owner: user,
      createdAt: world.now(),
      version,
    };
    cluster.drafts.push(draft);
    world.changed(cluster);
    return { status: 200, body: draft.id };
  });

  calls.get(`${path}/:draft`, (call) => {
    const { draft } = draftOf(call);
    return { status: 200, body: { metadata: metadata(draft), software: software(world.config, draft.version) } };
  });

  calls.delete(`${path}/:draft`, (call) => {
    const { cluster, draft } = draftOf(call);
    cluster.drafts = cluster.drafts.filter(({ id }) => id !== draft.id);
    world.changed(cluster);
    return { status: 204 };
  });

  calls.get(`${path}/:draft/software/base-image`, (call) => ({
    status: 200,
    body: baseImage(world.config, draftOf(call).draft.version),
  }));

  calls.put(`${path}/:draft/software/base-image`, (call) => {
    const { cluster, draft } = draftOf(call);
    draft.version = decodeBody(BaseImageSpec, call.body).version;
    world.changed(cluster);
    return { status: 204 };
  });

  calls.post(`${path}/:draft`, (call) => {
    const { cluster, draft } = draftOf(call);
    const { user } = call.session;
    const kind = actionOf(call, ["validate", "commit"]);
    if (kind === "validate") {
      const task = startTask(world, cluster, { kind, user, draft: draft.id, version: draft.version });
      return { status: 202, body: task.id };
    }
    const { message } = decodeBody(CommitSpec, call.body);
    if (!isOffered(draft.version)) throw invalidArgument([`base_image: the depot has no ${draft.version}`]);
    if (runningApply(cluster))
      throw new VapiError(
        "NOT_ALLOWED_IN_CURRENT_STATE",
        "cluster.operation_in_progress",
        "A remediation is in progress.",
      );
    const task = startTask(world, cluster, { kind, user, draft: draft.id, ...(message !== undefined && { message }) });
    return { status: 202, body: task.id };
  });
}

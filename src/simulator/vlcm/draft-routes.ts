import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";
import { imageProblems, type Image } from "../state/image-extras";
import { desiredImage, type ClusterState, type DraftState } from "../state/simulator-state";
import type { World } from "../state/world";
import { runningApply, startTask } from "../timeline/tasks";
import { decodeStrictly } from "../config/decode-strictly";
import { decodeBody } from "./decode-body";
import { baseImage, software } from "./image-view";
import { invalidArgument, VapiError } from "./vapi-error";
import { actionOf, imageClusterOf, withSession, type VlcmCall } from "./vlcm-calls";

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
export function draftRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);
  const path = "/esx/settings/clusters/:cluster/software/drafts";

  function draftOf(call: VlcmCall): { cluster: ClusterState; draft: DraftState } {
    const cluster = imageClusterOf(world, call);
    const draft = cluster.drafts.find(({ id }) => id === call.params["draft"]);
    if (!draft) throw new VapiError("NOT_FOUND", "draft.not_found", `There is no draft ${call.params["draft"]}.`);
    return { cluster, draft };
  }

  const metadata = (draft: DraftState) => ({
    owner: draft.owner,
    status: imageProblems(world.config, draft).length === 0 ? "VALID" : "INVALID",
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
    const { version, extras }: Image = isImport ? importedImage(call.body) : (desiredImage(cluster) ?? { version: "" });
    const draft: DraftState = {
      id: `draft-${world.state.global.nextDraft++}`,
      owner: user,
      createdAt: world.now(),
      version,
      ...(extras && { extras }),
    };
    cluster.drafts.push(draft);
    world.changed(cluster);
    return { status: 200, body: draft.id };
  });

  calls.get(`${path}/:draft`, (call) => {
    const { draft } = draftOf(call);
    return { status: 200, body: { metadata: metadata(draft), software: software(world.config, draft) } };
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
      const { id, version, extras = {} } = draft;
      const task = startTask(world, cluster, { kind, user, draft: id, version, extras });
      return { status: 202, body: task.id };
    }
    const { message } = decodeBody(CommitSpec, call.body);
    const problems = imageProblems(world.config, draft);
    if (problems.length > 0) throw invalidArgument(problems);
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

import { identity } from "fp-ts/function";
import type * as t from "io-ts";
import { TokenCreationSpec, TokenPair } from "../../authentication/authentication";
import { shapeOf } from "../../domain/codec";
import { ErrorBody, ErrorCause } from "../../domain/errors";
import { PageMetadata } from "../../domain/page";
import { PreviewedProduct, PreviewedResource, UpgradePreview } from "../../domain/plan/preview";
import { Bundle, BundleComponent, PageOfBundle } from "../../domain/spec/bundle";
import { Cluster, ClusterMember, NetvirtGroupOfCluster, PageOfCluster } from "../../domain/spec/cluster";
import {
  Iso,
  ManagementServer,
  NetvirtGroup,
  NetvirtInstance,
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
  Personality,
} from "../../domain/spec/installations";
import { RequestWarning } from "../../domain/spec/request-warning";
import {
  LocalizableDescriptionPack,
  PageOfTask,
  Stage,
  SubTask,
  Task,
  TaskHeader,
  TaskResource,
  WaitingFor,
} from "../../domain/spec/task";
import { HostVersion, PageOfUpgrade, ProductVersions, Upgrade, UpgradeHosts } from "../../domain/spec/upgrade";
import {
  CustomIsoSpec,
  HardwareSupportSpec,
  HostosUpgradeFailureAction,
  HostosUpgradeOptionsSpec,
  MgmtUpgradePatchSpec,
  MgmtUpgradeUserInputSpec,
  NetvirtUpgradeUserInputSpec,
  PersonalitySpec,
  ResourceUpgradeSpec,
  TemporaryNetwork,
  UpgradeSpec,
  UpgradeUpdateSpec,
} from "../../domain/spec/upgrade-spec";
import { PhaseCount, UpgradeCounts } from "../../domain/upgrade/attention";
import { SubTaskChange, TaskChange } from "../../domain/task/task-change";
import { TaskEnd } from "../routes/task-events";

interface Component {
  readonly codec: t.Mixed;
  readonly description: string;
  /** What requests are held against beside the codec. */
  readonly inFull?: (schema: JsonSchema) => JsonSchema;
}

/** Fields that are not known are refused, where elsewhere they are dropped. */
const withoutOtherFields = (schema: JsonSchema): JsonSchema => ({ ...schema, additionalProperties: false });

/** With markForCancellation true nothing else counts; without it no field may be there that is not known. */
const cancellationOrUpdate = (update: JsonSchema): JsonSchema => ({
  anyOf: [
    {
      type: "object",
      required: ["markForCancellation"],
      properties: { markForCancellation: { type: "boolean", enum: [true] } },
    },
    withoutOtherFields(update),
  ],
});

/** The models that the document names, by the specification's names (Spec 2.1 to 2.7, 7), and those of tokens. */
export const components: Readonly<Record<string, Component>> = {
  UpgradeSpec: { codec: UpgradeSpec, description: "What to upgrade, to what, when and how." },
  ResourceUpgradeSpec: { codec: ResourceUpgradeSpec, description: "One resource to upgrade." },
  PersonalitySpec: { codec: PersonalitySpec, description: "The image that an image-managed cluster is brought to." },
  HardwareSupportSpec: { codec: HardwareSupportSpec, description: "A firmware add-on of a hardware support manager." },
  CustomIsoSpec: { codec: CustomIsoSpec, description: "The ISO that a baseline-managed cluster is brought to." },
  HostosUpgradeOptionsSpec: {
    codec: HostosUpgradeOptionsSpec,
    description: "How the hosts of a cluster are upgraded.",
  },
  HostosUpgradeFailureAction: {
    codec: HostosUpgradeFailureAction,
    description: "What to do when the upgrade of a host fails. retryDelay is in seconds.",
  },
  NetvirtUpgradeUserInputSpec: {
    codec: NetvirtUpgradeUserInputSpec,
    description: "Inputs of a network virtualization upgrade.",
  },
  MgmtUpgradeUserInputSpec: { codec: MgmtUpgradeUserInputSpec, description: "Inputs of a management server upgrade." },
  TemporaryNetwork: {
    codec: TemporaryNetwork,
    description: "The address of a management server while it is being migrated.",
  },
  Task: {
    codec: Task,
    description:
      "The work of one upgrade. Where asOf is present, workers were too busy to answer, or none runs: parts of the task are as they were then, none is older.",
  },
  SubTask: { codec: SubTask, description: "A part of a task: a product, a cluster or a host." },
  Stage: { codec: Stage, description: "A step of a subtask." },
  TaskResource: { codec: TaskResource, description: "A resource that a task works on. A cluster has no type." },
  TaskChange: {
    codec: TaskChange,
    description:
      "Data of the event `change`: the task without its subtasks where that has changed, and the subtasks that have.",
  },
  SubTaskChange: {
    codec: SubTaskChange,
    description:
      "A subtask that has changed. path is its JSON Pointer in the task, such as /subTasks/1/subTasks/0. Where whole is true, subTask replaces it with all that is nested in it; else subTask comes without subTasks, and those that are known stay.",
  },
  RequestWarning: {
    codec: RequestWarning,
    description:
      "What a request says without effect. path is the field; nearestName the known name that is nearest to an unknown one.",
  },
  WaitingFor: {
    codec: WaitingFor,
    description:
      "What an upgrade, a running task or a subtask waits for. SOAK: the time between two hosts. HEALTH_GATE: a healthy cluster. SWITCHOVER: the time of a switchover. COMMIT: a commit. TIME: its scheduled time. WORKER: a worker. LOCK: resources that another upgrade holds. PRECHECKS: prechecks that pass. WORK_IN_PROGRESS: the safe end of what is in work. RESUME: an operator who resumes it. DECISION: a retry or a resolve. WORKFLOW_TASK_FAILING, which does not solve itself: the service cannot run the code of its Workflow; an error with the code WORKFLOW_BLOCKED says why, and what to do.",
  },
  TaskHeader: { codec: TaskHeader, description: "A task without its subtasks." },
  TaskEnd: { codec: TaskEnd, description: "Data of the event `end`: the status that the task ended with." },
  LocalizableDescriptionPack: { codec: LocalizableDescriptionPack, description: "A message for machine processing." },
  Upgrade: {
    codec: Upgrade,
    description:
      "An upgrade with all that a list shows of it. phase is finer than status: DRAFT_PRECHECKS, DRAFT_READY and PRECHECKS_FAILED of a draft; SCHEDULED; WAITING for a worker, a lock or its time; RUNNING; PAUSING until what is in work has ended, then PAUSED; CANCELLING; ACTION_REQUIRED: an operator must decide; SUCCEEDED, SUCCEEDED_WITH_WARNINGS, CANCELLED, RESOLVED (a failed one that was given up), FAILED. since is when the phase began, until when it ends by itself, waitingFor what it waits for. beginsAt: the earliest time of what is left. workSeconds: work without waiting, up to workingSince where that is present. expectedEnd is an estimate by the hosts that are done. decideBy: until when a failed upgrade can be retried or resolved. hostVersions: what hosts run, as last read. endTime is in milliseconds since 1970-01-01T00:00:00Z.",
  },
  UpgradeHosts: {
    codec: UpgradeHosts,
    description:
      "Hosts of the clusters of an upgrade, of those clusters that have been read. done: at the target. left: not begun, or left out. Written at every twentieth of the hosts.",
  },
  HostVersion: { codec: HostVersion, description: "How many hosts run a version." },
  ProductVersions: {
    codec: ProductVersions,
    description: "The versions that an upgrade brings a product from and to. from is absent until it has been read.",
  },
  Bundle: { codec: Bundle, description: "Product versions that are released and applied together." },
  BundleComponent: { codec: BundleComponent, description: "One product of a bundle." },
  UpgradeCounts: { codec: UpgradeCounts, description: "How many upgrades are in each phase." },
  PhaseCount: { codec: PhaseCount, description: "How many upgrades are in a phase." },
  PageOfUpgrade: { codec: PageOfUpgrade, description: "One page of the list of upgrades." },
  PageOfTask: { codec: PageOfTask, description: "One page of the list of tasks, which have no subTasks there." },
  PageOfBundle: { codec: PageOfBundle, description: "One page of the bundles of the catalog." },
  UpgradeUpdateSpec: {
    codec: UpgradeUpdateSpec,
    description:
      "Commits a draft, gives an upgrade or a switchover another time, or cancels it. Without a field: a plain commit.",
    inFull: cancellationOrUpdate,
  },
  MgmtUpgradePatchSpec: {
    codec: MgmtUpgradePatchSpec,
    description: "Another time for the switchover of one management server.",
    inFull: withoutOtherFields,
  },
  Cluster: { codec: Cluster, description: "A cluster that can be upgraded, and what is known of it now." },
  ClusterMember: { codec: ClusterMember, description: "A host of a cluster." },
  PageOfCluster: { codec: PageOfCluster, description: "One page of the clusters of the inventory." },
  NetvirtGroupOfCluster: { codec: NetvirtGroupOfCluster, description: "What a NETVIRT instance calls a cluster." },
  NetvirtInstance: { codec: NetvirtInstance, description: "A NETVIRT instance that can be upgraded." },
  NetvirtGroup: { codec: NetvirtGroup, description: "A host or edge cluster of an upgrade coordinator." },
  ManagementServer: { codec: ManagementServer, description: "A management server that can be upgraded." },
  Personality: { codec: Personality, description: "An image that image-managed clusters can be brought to." },
  Iso: { codec: Iso, description: "An ISO that baseline-managed clusters can be brought to." },
  PageOfNetvirtInstance: { codec: PageOfNetvirtInstance, description: "One page of the NETVIRT instances." },
  PageOfManagementServer: { codec: PageOfManagementServer, description: "One page of the management servers." },
  PageOfPersonality: { codec: PageOfPersonality, description: "One page of the personalities." },
  PageOfIso: { codec: PageOfIso, description: "One page of the ISOs." },
  UpgradePreview: { codec: UpgradePreview, description: "What an upgrade would do." },
  PreviewedProduct: { codec: PreviewedProduct, description: "A product of a preview; products run one after another." },
  PreviewedResource: { codec: PreviewedResource, description: "A resource of a preview." },
  PageMetadata: { codec: PageMetadata, description: "Which page it is, counted from 0, and of how many." },
  TokenCreationSpec: { codec: TokenCreationSpec, description: "Who wants tokens." },
  TokenPair: { codec: TokenPair, description: "An access token, and what new ones are had with." },
  Error: { codec: ErrorBody, description: "Why a request failed, and what can be done." },
  ErrorCause: { codec: ErrorCause, description: "An underlying cause of an error." },
};

const names = new Map(Object.entries(components).map(([name, { codec }]) => [codec, name]));

/** Finds components by the codec itself, so that a model is described once and used by reference. */
export const componentName: ComponentName = (codec) => names.get(codec);

/** What the bodies of POST and PATCH are made of: null is as good as nothing there. */
const ofRequests = new Set<t.Mixed>();
const collect = (codec: t.Mixed): void => {
  ofRequests.add(codec);
  const shape = shapeOf(codec);
  if (shape.kind === "object") Object.values<t.Mixed>({ ...shape.required, ...shape.optional }).forEach(collect);
  if (shape.kind === "list") collect(shape.element);
  if (shape.kind === "described" && shape.codec.schema.items) collect(shape.codec.schema.items);
};
[UpgradeSpec, UpgradeUpdateSpec].forEach(collect);

/** `components.schemas` of the document. */
export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(components).map(([name, { codec, description, inFull = identity }]) => [
      name,
      { description, ...inFull(jsonSchemaInFull(codec, componentName, ofRequests.has(codec))) },
    ]),
  );
}

/** A JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Name of the component that describes a codec, where it has one. */
type ComponentName = (codec: t.Mixed) => string | undefined;

/** The schema of a codec at the place where it is used: a reference where the codec is a named component. */
export function jsonSchemaOf(codec: t.Mixed, nameOf: ComponentName): JsonSchema {
  const name = nameOf(codec);
  return name === undefined ? jsonSchemaInFull(codec, nameOf) : { $ref: `#/components/schemas/${name}` };
}

/**
 * The schema of a codec itself. Fields that it does not know are allowed, because they are ignored. In requests
 * (`nullIsAbsent`) optional fields may be null, at every depth that has no component of its own.
 */
export function jsonSchemaInFull(codec: t.Mixed, nameOf: ComponentName, nullIsAbsent = false): JsonSchema {
  const shape = shapeOf(codec);
  const inner = (part: t.Mixed) =>
    nameOf(part) === undefined ? jsonSchemaInFull(part, nameOf, nullIsAbsent) : jsonSchemaOf(part, nameOf);
  switch (shape.kind) {
    case "object": {
      const required = Object.keys(shape.required);
      // OpenAPI's own tools do not know lists of types yet.
      const orNull = (schema: JsonSchema) => (nullIsAbsent ? { anyOf: [schema, { enum: [null] }] } : schema);
      return {
        type: "object",
        ...(required.length > 0 && { required }),
        properties: {
          ...mapValues(shape.required, inner),
          ...mapValues(shape.optional, (field) => orNull(inner(field))),
        },
      };
    }
    case "list":
      return { type: "array", items: inner(shape.element) };
    case "map":
      return { type: "object", additionalProperties: jsonSchemaOf(shape.value, nameOf) };
    case "spellings":
      return { type: "string", enum: shape.spellings };
    case "described": {
      const { items, ...leaf } = shape.codec.schema;
      return { ...leaf, ...(items && { items: inner(items) }) };
    }
    case "object of any fields":
      return { type: "object" };
    case "anything":
      return {};
    default:
      return { type: shape.kind };
  }
}

function mapValues(props: t.Props, schemaOf: (codec: t.Mixed) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries<t.Mixed>(props).map(([name, codec]) => [name, schemaOf(codec)]));
}

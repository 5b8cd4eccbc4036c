import { RefreshToken, TokenCreationSpec, TokenPair } from "../../../authentication/authentication";
import { ErrorBody, ErrorCause } from "../../../domain/errors";
import { PageMetadata } from "../../../domain/page";
import {
  ExpectedWave,
  PreviewedProduct,
  PreviewedResource,
  Product,
  ResourceKind,
  UpgradePreview,
  WavePart,
} from "../../../domain/plan/preview";
import { PageOfUpgrade, Upgrade, UpgradeStatus } from "../../../domain/spec/upgrade";
import { Health, HealthStatus } from "../../routes/health";
import { type Component, enumeration, object, pageFields } from "../component";

/** Upgrades (Spec 2.6, 2.7), what they would do, errors (Spec 7), and what the service says of itself. */
export const answerModels = {
  Upgrade: object(Upgrade, "An upgrade.", {
    id: "Id of the upgrade, a UUID.",
    bundleId: "Id of the bundle to upgrade to.",
    resourceType: "Type of the resources.",
    parallelUpgrade: "Whether clusters are upgraded in parallel; always true.",
    resourceUpgradeSpecs: "The resources to upgrade, as they were requested.",
    status: "State of the upgrade.",
    taskId: "Id of the task that carries the upgrade.",
    netvirtUpgradeUserInputSpec: "The first of the requested inputs for NETVIRT instances.",
    bundle: "The bundle to upgrade to.",
    endTime: "When the upgrade ended, in milliseconds since 1970-01-01T00:00:00Z. Absent before.",
    waitingFor: "What keeps the upgrade from beginning, where that is not only its time.",
    errors: "Why the rest of the upgrade cannot be read.",
  }),
  UpgradeStatus: enumeration(UpgradeStatus, "State of an upgrade.", {
    PENDING: "Accepted, not started.",
    DRAFT: "A draft: its prechecks run, or it waits for a commit.",
    SCHEDULED: "It waits for its time.",
    INPROGRESS: "It runs.",
    PAUSED: "Nothing new of it starts until it is resumed.",
    COMPLETED_WITH_SUCCESS: "Ended, done.",
    COMPLETED_WITH_FAILURE: "Ended, failed. It can be retried for some days.",
    CANCELLED: "Ended by a cancellation.",
  }),
  PageOfUpgrade: object(PageOfUpgrade, "One page of the list of upgrades.", pageFields("upgrades")),
  PageMetadata: object(PageMetadata, "Which page of a list it is, and how much there is in all.", {
    pageNumber: "Number of the page, counted from 0.",
    pageSize: "Number of elements that a full page has.",
    totalElements: "Number of elements on all pages.",
    totalPages: "Number of pages.",
  }),
  UpgradePreview: object(UpgradePreview, "What an upgrade would do.", {
    name: "Name that the upgrade would have.",
    bundleId: "Id of the bundle to upgrade to.",
    bundleVersion: "Version of the bundle.",
    draftMode: "Whether it would be a draft.",
    products: "The products that would be upgraded, one after another.",
    waves: "What is expected to run at the same time, in order.",
    warnings: "What of the request has no effect.",
  }),
  PreviewedProduct: object(PreviewedProduct, "A product of a preview; products run one after another.", {
    product: "The product.",
    resources: "Its resources, which are upgraded in parallel.",
  }),
  Product: enumeration(Product, "A product that bundles upgrade.", {
    NETVIRT: "Network virtualization.",
    MGMT: "The management server.",
    HOSTOS: "The hypervisor of hosts.",
  }),
  PreviewedResource: object(PreviewedResource, "A resource of a preview.", {
    resourceId: "Id of the cluster, NETVIRT instance or management server.",
    name: "Name of the resource.",
    kind: "Kind of the resource.",
    targetVersion: "Version that it would be upgraded to.",
    maximumAttempts: "How many attempts each host, or the server, would have.",
    retryDelay: "Seconds between two attempts.",
    scheduledTimestamp: "When it would begin at the earliest. Absent: at once.",
    upgradeMechanism: "How a management server would be upgraded.",
    startSwitchoverTimestamp: "When a migrated management server would take over. Absent: as soon as it is ready.",
    hostsAtOnce: "How many hosts of a cluster would be upgraded at once.",
    soakSeconds: "Seconds that a cluster would wait after each host, or group of hosts.",
    healthGate: "Whether a cluster would have to be healthy before the next host.",
    toleratedFailures: "How many failed hosts would not stop a cluster.",
    errors: "Why the hosts of a cluster are not known, and so not in the waves.",
    hostosUpgradeOptionsSpec: "How the hosts of a cluster would be upgraded.",
  }),
  ResourceKind: enumeration(ResourceKind, "Kind of a resource that is upgraded.", {
    IMAGE: "An image-managed cluster.",
    BASELINE: "A baseline-managed cluster.",
    NETVIRT: "A NETVIRT instance.",
    MGMT: "A management server.",
  }),
  ExpectedWave: object(ExpectedWave, "What is expected to run at the same time: one step of each resource.", {
    product: "The product that the wave belongs to.",
    wave: "Number of the wave within the product, counted from 1.",
    parts: "The resources of the wave.",
    scheduledTimestamp: "When the wave would begin at the earliest. Absent: at once.",
  }),
  WavePart: object(WavePart, "What of a wave belongs to one resource.", {
    resourceId: "Id of the resource.",
    name: "Name of the resource.",
    hosts: "Names of the hosts that would run together. Absent for servers, and where the hosts are not known.",
    soakSeconds: "Seconds that the cluster would wait before this wave.",
  }),
  Error: object(ErrorBody, "Why a request failed, and what can be done.", {
    errorCode: "What has failed, for programs. docs/error-codes.md lists all codes.",
    errorType: "Kind of the error, for programs that do not know the code.",
    arguments: "What the message is about, such as the path of a field, for programs.",
    context: "Further facts by name, such as `retryAfterSeconds`.",
    message: "What has failed, for people.",
    remediationMessage: "What to do, for people.",
    causes: "What has led to the error.",
    nestedErrors: "The single errors, where there are several.",
    referenceToken: "Finds the request in the service's log: its `x-request-id`.",
  }),
  ErrorCause: object(ErrorCause, "An underlying cause of an error.", {
    type: "Kind of the cause, for programs.",
    message: "The cause, for people.",
  }),
  TokenCreationSpec: object(TokenCreationSpec, "Who wants tokens.", {
    username: "Name of the user.",
    password: "Password of the user.",
  }),
  TokenPair: object(TokenPair, "An access token, and a refresh token to get new ones with.", {
    accessToken: "Token for the header `Authorization: Bearer`, for an hour at most.",
    refreshToken: "Token to get new access tokens with.",
  }),
  RefreshToken: object(RefreshToken, "A token to get new access tokens with.", {
    id: "The token, for the body of `PATCH /v1/tokens/access-token/refresh`.",
  }),
  Health: object(Health, "That the process, or the service as a whole, does its work.", {
    status: "Whether it does.",
    problems: "What it cannot do for some upgrades, although it serves requests.",
  }),
  HealthStatus: enumeration(HealthStatus, "Whether the process, or the service, does its work.", {
    UP: "It does. Otherwise the answer is an error.",
  }),
} satisfies Readonly<Record<string, Component>>;

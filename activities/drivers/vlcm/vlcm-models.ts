import * as t from "io-ts";
import { Legible } from "../../../src/domain/legible";
import { LocalizableMessage, Notifications, Progress, TaskInfo } from "../vapi/vapi-models";

export { hasEnded, Notifications, TaskInfo, textsOf } from "../vapi/vapi-models";

// Only the fields that are used: what else an answer holds may change between product versions without harm. States
// stay strings, because an unknown one must read as "not finished" and never as an answer that is not understood.

export const Identifier = t.string;

export const ClusterSummaries = t.array(t.type({ cluster: t.string, name: Legible }));
/** A cluster as the component manager lists it. */
export type ClusterSummary = t.TypeOf<typeof ClusterSummaries>[number];

export const HostSummaries = t.array(
  t.intersection([
    t.type({ host: t.string, name: Legible, connection_state: t.string }),
    t.partial({ power_state: t.string }),
  ]),
);
/** A host: `connection_state` CONNECTED, DISCONNECTED or NOT_RESPONDING; `power_state` absent while it is not known. */
export type HostSummary = t.TypeOf<typeof HostSummaries>[number];

export const Enablement = t.type({ enabled: t.boolean });

export const BaseImage = t.type({ version: t.string });

const AddOn = t.type({ name: t.string, version: t.string });
// A version that is absent is a component that is left out of the image.
const Component = t.partial({ version: t.string });
const FirmwarePackage = t.type({ pkg: t.string, version: t.string });

/** A cluster's desired image: its base image and what the user has put beside it. */
export const SoftwareInfo = t.intersection([
  t.type({ base_image: BaseImage }),
  t.partial({
    add_on: AddOn,
    components: t.record(t.string, Component),
    hardware_support: t.type({ packages: t.record(t.string, FirmwarePackage) }),
  }),
]);
export type SoftwareInfo = t.TypeOf<typeof SoftwareInfo>;

const HostCompliance = t.intersection([
  t.type({ status: t.string, base_image: t.type({ current: BaseImage, target: BaseImage }) }),
  t.partial({
    notifications: Notifications,
    add_on: t.partial({ current: AddOn, target: AddOn }),
    components: t.record(t.string, t.partial({ current: Component, target: Component, target_source: t.string })),
    hardware_support: t.record(t.string, t.partial({ current: FirmwarePackage, target: FirmwarePackage })),
  }),
]);
export type HostCompliance = t.TypeOf<typeof HostCompliance>;

/** What the last scan found: per host what it has, what it is to have, and COMPLIANT, NON_COMPLIANT, INCOMPATIBLE or UNAVAILABLE. */
export const ClusterCompliance = t.intersection([
  t.type({ status: t.string, hosts: t.record(t.string, HostCompliance) }),
  t.partial({ commit: t.string }),
]);
export type ClusterCompliance = t.TypeOf<typeof ClusterCompliance>;

export const Drafts = t.record(t.string, t.type({ metadata: t.type({ owner: t.string }) }));

export const SessionInfo = t.type({ user: t.string });

export const Policy = t.UnknownRecord;

export const TaskInfos = t.record(t.string, TaskInfo);

const ApplyStatus = t.intersection([
  t.type({ status: t.string }),
  t.partial({ start_time: t.string, progress: Progress, notifications: Notifications }),
]);

/** What came, or comes, of a remediation: per host RUNNING, OK, SKIPPED, TIMED_OUT, ERROR or RETRY_PENDING. */
export const ApplyResult = t.partial({
  status: ApplyStatus,
  host_status: t.record(t.string, ApplyStatus),
  successful_hosts: t.array(t.string),
  failed_hosts: t.array(t.string),
  skipped_hosts: t.array(t.string),
  notifications: Notifications,
});
export type ApplyResult = t.TypeOf<typeof ApplyResult>;

const CheckStatus = t.type({
  check: t.type({ name: LocalizableMessage }),
  status: t.string,
  issues: t.array(LocalizableMessage),
});

const EntityCheckResult = t.intersection([
  t.type({ type: t.string, status: t.string, check_statuses: t.array(CheckStatus) }),
  t.partial({ host: t.string, cluster: t.string }),
]);

/** What the product's own health check found, per cluster or host: OK, WARNING, TIMEOUT, ERROR or RETRY. */
export const CheckResult = t.type({ status: t.string, entity_results: t.array(EntityCheckResult) });
export type CheckResult = t.TypeOf<typeof CheckResult>;

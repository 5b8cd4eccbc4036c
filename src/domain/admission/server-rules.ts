import { isHostOfSubnet, isIpv4Address, prefixLength, sameSubnet } from "../ipv4";
import { findMember, type NetvirtFacts } from "../plan/facts";
import { isInThePast, notBefore } from "../plan/schedule";
import { inputTarget, mechanismOf, mgmtInScope, netvirtInScope } from "../plan/scope";
import type {
  MgmtUpgradeUserInputSpec,
  NetvirtUpgradeUserInputSpec,
  ResourceUpgradeSpec,
  TemporaryNetwork,
} from "../spec/upgrade-spec";
import { toEpochMilliseconds } from "../timestamp";
import {
  type AdmissionRequest,
  type AdmissionRule,
  badField,
  clustersOfRequest,
  inputsWithoutTarget,
  type Rejection,
} from "./admission-rule";

const mgmtInputs = "mgmtUpgradeUserInputSpecs";
const addressFields = ["ipAddress", "subnetMask", "gateway"] as const;

/** Inputs for management servers name a server that serves the request's clusters, and fit their mechanism. */
export const mgmtInputsValid: AdmissionRule = (request) => {
  const inputs = request.spec[mgmtInputs] ?? [];
  return [
    ...inputsWithoutTarget({
      list: mgmtInputs,
      field: "resourceId",
      title: "management server",
      named: inputs.map(({ resourceId }) => resourceId),
      inScope: mgmtInScope(clustersOfRequest(request), request.installations),
    }),
    ...inputs.flatMap((input, i) => {
      const path = `${mgmtInputs}[${i}]`;
      return [
        ...fieldsOfMechanism(input, path),
        ...switchoverAhead(input, path, request),
        ...(input.temporaryNetwork ? network(input.temporaryNetwork, `${path}.temporaryNetwork`) : []),
      ];
    }),
  ];
};

function fieldsOfMechanism(input: MgmtUpgradeUserInputSpec, path: string): Rejection[] {
  if (mechanismOf(input) !== "InPlace") return [];
  return (["startSwitchoverTimestamp", "temporaryNetwork"] as const)
    .filter((field) => input[field] !== undefined)
    .map((field) =>
      badField(
        `${path}.${field}`,
        "FIELD_NOT_FOR_MECHANISM",
        `${field} does not apply to InPlace, which has no second appliance and no switchover.`,
        `Remove ${field}, or choose ReducedDowntimeMigration.`,
      ),
    );
}

function switchoverAhead(
  { startSwitchoverTimestamp }: MgmtUpgradeUserInputSpec,
  path: string,
  { spec, now }: AdmissionRequest,
): Rejection[] {
  if (startSwitchoverTimestamp === undefined) return [];
  const refuse = (code: string, message: string) => [
    badField(
      `${path}.startSwitchoverTimestamp`,
      code,
      message,
      "Give a later time, or remove it to switch over as soon as everything is prepared.",
    ),
  ];
  if (isInThePast({ scheduledTimestamp: startSwitchoverTimestamp }, now)) {
    return refuse("SCHEDULE_IN_THE_PAST", `The switchover time ${startSwitchoverTimestamp} has passed.`);
  }
  const begins = earliestBegin(spec.resourceUpgradeSpecs);
  if (begins === undefined || toEpochMilliseconds(startSwitchoverTimestamp) >= toEpochMilliseconds(begins)) return [];
  return refuse(
    "SWITCHOVER_BEFORE_UPGRADE",
    `The switchover time ${startSwitchoverTimestamp} is before the start of the upgrade at ${begins}.`,
  );
}

/** When the first resource of a request may begin; undefined where one may at once. */
function earliestBegin(resources: readonly ResourceUpgradeSpec[]): string | undefined {
  const times = resources.map(notBefore);
  if (times.includes(undefined)) return undefined;
  return times.sort((a = "", b = "") => toEpochMilliseconds(a) - toEpochMilliseconds(b))[0];
}

function network(given: TemporaryNetwork, path: string): Rejection[] {
  const { networkMode, ipAddress, subnetMask, gateway } = given;
  if (networkMode === undefined) {
    return [
      badField(`${path}.networkMode`, "MISSING_FIELD", `${path}.networkMode is missing.`, "Give STATIC or AUTOMATIC."),
    ];
  }
  if (networkMode === "AUTOMATIC") {
    return addressFields
      .filter((field) => given[field] !== undefined)
      .map((field) =>
        badField(
          `${path}.${field}`,
          "FIELD_NOT_FOR_NETWORK_MODE",
          `${field} does not apply to the network mode AUTOMATIC.`,
          `Remove ${field}, or choose STATIC.`,
        ),
      );
  }
  const missing = addressFields
    .filter((field) => given[field] === undefined)
    .map((field) =>
      badField(`${path}.${field}`, "MISSING_FIELD", `The network mode STATIC needs ${field}.`, `Add ${path}.${field}.`),
    );
  const bad = addressFields
    .filter((field) => {
      const value = given[field];
      if (value === undefined) return false;
      return field === "subnetMask" ? prefixLength(value) === undefined : !isIpv4Address(value);
    })
    .map((field) =>
      badField(
        `${path}.${field}`,
        "INVALID_FIELD",
        field === "subnetMask" ? `${given[field]} is not a subnet mask.` : `${given[field]} is not an IPv4 address.`,
        field === "subnetMask" ? "Give a mask such as 255.255.255.0." : "Give an address such as 192.0.2.10.",
      ),
    );
  if (missing.length + bad.length > 0 || ipAddress === undefined || subnetMask === undefined || gateway === undefined) {
    return [...missing, ...bad];
  }
  const ends = (["ipAddress", "gateway"] as const).filter((field) => !isHostOfSubnet(given[field] ?? "", subnetMask));
  if (ends.length > 0) {
    return ends.map((field) =>
      badField(
        `${path}.${field}`,
        "INVALID_FIELD",
        `${given[field]} is the network or the broadcast address of its subnet (mask ${subnetMask}).`,
        "Give a host address of the subnet.",
      ),
    );
  }
  if (sameSubnet(ipAddress, gateway, subnetMask) && ipAddress !== gateway) return [];
  return [
    badField(
      `${path}.gateway`,
      "INVALID_FIELD",
      `Gateway ${gateway} cannot be reached from ${ipAddress} with the mask ${subnetMask}.`,
      "Give a gateway in the subnet of the address.",
    ),
  ];
}

const netvirtInputs = "netvirtUpgradeUserInputSpecs";

/** Inputs for NETVIRT name an instance that serves the request's clusters, each part once, and do not contradict themselves. */
export const netvirtInputsValid: AdmissionRule = (request) => {
  const inputs = request.spec[netvirtInputs] ?? [];
  const inScope = netvirtInScope(clustersOfRequest(request), request.installations);
  return [
    ...inputsWithoutTarget({
      list: netvirtInputs,
      field: "netvirtId",
      title: "NETVIRT instance",
      named: inputs.map(({ netvirtId }) => netvirtId),
      inScope,
    }),
    ...inputs.flatMap((input, i) => [
      ...partsNamedOnce(input, `${netvirtInputs}[${i}]`, inScope),
      ...edgeOnly(input, `${netvirtInputs}[${i}]`),
    ]),
  ];
};

/** A cluster has several names; the coordinator's id of its group is compared when its precheck reads the groups. */
function partsNamedOnce(
  input: NetvirtUpgradeUserInputSpec,
  path: string,
  inScope: readonly NetvirtFacts[],
): Rejection[] {
  const instance = inputTarget(input.netvirtId, inScope);
  const nameOf = (id: string | undefined) =>
    id === undefined ? id : ((instance && findMember(instance, id)?.name) ?? id);
  const hosts = input.netvirtHostClusterUpgradeSpecs?.map(({ hostClusterId }) => nameOf(hostClusterId)) ?? [];
  const edges = input.netvirtEdgeClusterUpgradeSpecs?.map(({ edgeClusterId }) => edgeClusterId) ?? [];
  return [
    ...namedOnce(hosts, (i) => `${path}.netvirtHostClusterUpgradeSpecs[${i}].hostClusterId`),
    ...namedOnce(edges, (i) => `${path}.netvirtEdgeClusterUpgradeSpecs[${i}].edgeClusterId`),
  ];
}

function namedOnce(ids: readonly (string | undefined)[], pathOf: (index: number) => string): Rejection[] {
  return ids.flatMap((id, i) => {
    const path = pathOf(i);
    if (id === undefined) return [badField(path, "MISSING_FIELD", `${path} is missing.`, `Add ${path}.`)];
    if (ids.indexOf(id) === i) return [];
    return [badField(path, "RESOURCE_DUPLICATE", `${id} is named twice.`, "Name each cluster once.")];
  });
}

function edgeOnly(input: NetvirtUpgradeUserInputSpec, path: string): Rejection[] {
  if (input.netvirtUpgradeOptions?.isEdgeOnlyUpgrade !== true) return [];
  const refuse = (field: string) =>
    badField(
      `${path}.${field}`,
      "FIELD_NOT_FOR_EDGE_ONLY",
      `${field} is for hosts, which an edge-only upgrade does not change.`,
      `Remove ${field} or isEdgeOnlyUpgrade.`,
    );
  return [
    ...(input.netvirtHostClusterUpgradeSpecs?.length ? [refuse("netvirtHostClusterUpgradeSpecs")] : []),
    ...(input.netvirtUpgradeOptions.isHostClustersUpgradeParallel === true
      ? [refuse("netvirtUpgradeOptions.isHostClustersUpgradeParallel")]
      : []),
    ...(input.netvirtEdgeClusterUpgradeSpecs?.length === 0
      ? [
          badField(
            `${path}.netvirtEdgeClusterUpgradeSpecs`,
            "INVALID_FIELD",
            "An empty netvirtEdgeClusterUpgradeSpecs excludes every edge cluster, so an edge-only upgrade has nothing to do.",
            "Name the edge clusters, or remove the field to upgrade all of them.",
          ),
        ]
      : []),
  ];
}

import { silenceError } from "../manager-silence";
import { nameAndId } from "../names";
import { overrideProblem } from "../plan/maintenance-override";
import { optionsOfImages, remediationOptions } from "../plan/remediation-options";
import { isInThePast, lacksTime } from "../plan/schedule";
import { type AdmissionRule, badField, perCluster, perResource, type Rejection } from "./admission-rule";

/** Every resource is a cluster of the inventory, and its component manager says so now. */
export const clustersKnown = perResource(({ resourceId }, path, { spec, clusters }) => {
  if (spec.resourceType !== "CLUSTER") return [];
  const lookup = clusters.get(resourceId);
  if (lookup?._tag === "Known") return [];
  if (lookup?._tag === "Unread") {
    const { name, componentManagerId, silence } = lookup;
    const { errorCode, message, remediationMessage } = silenceError(
      componentManagerId,
      silence,
      "send the request again",
    );
    return [
      {
        effect: "FAILED_DEPENDENCY",
        path: `${path}.resourceId`,
        code: errorCode,
        message: `Cluster ${nameAndId(name, resourceId)} cannot be read. ${message}`,
        remediation: remediationMessage,
      },
    ];
  }
  return [
    {
      effect: "BAD_REQUEST",
      path: `${path}.resourceId`,
      code: "RESOURCE_UNKNOWN",
      message: `Cluster ${resourceId} is not in the inventory.`,
      remediation: "Name a cluster of the inventory by its resource id.",
    },
  ];
});

/** The most hosts of a cluster that one upgrade takes on (docs/spec-gaps.md, limits). */
export const maximumHosts = 128;

/** No cluster is larger than an upgrade can hold in its history and its Task. */
export const clusterSize = perCluster((cluster, _resource, path) =>
  cluster.hostCount <= maximumHosts
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: `${path}.resourceId`,
          code: "CLUSTER_TOO_LARGE",
          message: `Cluster ${cluster.name} has ${cluster.hostCount} hosts; at most ${maximumHosts} can be upgraded.`,
          remediation: "Split the cluster.",
        },
      ],
);

/** Fields that exist for one kind of cluster are not given for the other (docs/spec-gaps.md, cluster kinds). */
export const fieldsFitClusterKind = perCluster((cluster, resource, path) => {
  const rejection = (field: string, title = field, reason?: string): Rejection => ({
    effect: "BAD_REQUEST",
    path: `${path}.${field}`,
    code: "FIELD_NOT_FOR_CLUSTER_KIND",
    message: `${title} does not apply to cluster ${cluster.name}, which is managed by ${cluster.kind === "IMAGE" ? "an image" : "baselines"}${reason === undefined ? "." : `: ${reason}`}`,
    remediation: `Remove ${title} for this cluster.`,
  });
  if (cluster.kind === "IMAGE") return resource.customIsoSpec === undefined ? [] : [rejection("customIsoSpec")];
  const inner = resource.hostosUpgradeOptionsSpec;
  return [
    ...(resource.personalitySpec === undefined ? [] : [rejection("personalitySpec")]),
    ...optionsOfImages(remediationOptions(resource)).map(({ option, title, reason }) => {
      const field = inner?.[option] === undefined ? option : `hostosUpgradeOptionsSpec.${option}`;
      return rejection(field, title === option ? field : title, reason);
    }),
  ];
});

/** Only parallel upgrades are supported (Spec 1); absent means parallel, an explicit `false` cannot be honoured. */
export const parallelUpgradeOnly: AdmissionRule = ({ spec }) =>
  spec.parallelUpgrade !== false
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: "parallelUpgrade",
          code: "ONLY_PARALLEL_UPGRADES",
          message: "Clusters are always upgraded in parallel; parallelUpgrade false is not supported.",
          remediation:
            "Remove parallelUpgrade or set it to true; to upgrade clusters one after another, schedule them.",
        },
      ];

/** `shutdownVms: true` is another way to say POWER_OFF_VMS; any other power action beside it contradicts it. */
export const powerActionConsistent = perResource(({ shutdownVms, hostosUpgradeOptionsSpec }, path) => {
  const action = hostosUpgradeOptionsSpec?.preRemediationPowerAction;
  if (shutdownVms !== true || action === undefined || action === "POWER_OFF_VMS") return [];
  return [
    {
      effect: "BAD_REQUEST",
      path: `${path}.shutdownVms`,
      code: "POWER_ACTION_CONTRADICTION",
      message: `shutdownVms true contradicts preRemediationPowerAction ${action}.`,
      remediation: "Remove one of the two, or set preRemediationPowerAction to POWER_OFF_VMS.",
    },
  ];
});

/** Only clusters can be upgraded (Spec 1). */
export const resourceTypeSupported: AdmissionRule = ({ spec }) =>
  spec.resourceType === "CLUSTER"
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: "resourceType",
          code: "RESOURCE_TYPE_NOT_SUPPORTED",
          message: `Resources of type ${spec.resourceType} cannot be upgraded; only CLUSTER can.`,
          remediation: "Name the clusters to upgrade and set resourceType to CLUSTER.",
        },
      ];

/** Each resource is named once; a second spec for it would contradict the first. */
export const resourcesUnique: AdmissionRule = ({ spec }) => {
  const first = new Map<string, number>();
  return spec.resourceUpgradeSpecs.flatMap(({ resourceId }, i) => {
    const earlier = first.get(resourceId);
    if (earlier === undefined) {
      first.set(resourceId, i);
      return [];
    }
    return [
      {
        effect: "BAD_REQUEST",
        path: `resourceUpgradeSpecs[${i}].resourceId`,
        code: "RESOURCE_DUPLICATE",
        message: `Resource ${resourceId} is already named by resourceUpgradeSpecs[${earlier}].`,
        remediation: "Name each resource once.",
      } as const,
    ];
  });
};

/** A scheduled time lies ahead, and whoever does not want to begin now says when. */
export const scheduleAhead = perResource((resource, path, { now }) => {
  if (lacksTime(resource)) {
    return [
      badField(
        `${path}.upgradeNow`,
        "SCHEDULE_MISSING",
        `${path}.upgradeNow is false, and scheduledTimestamp is missing.`,
        "Add a scheduledTimestamp, or remove upgradeNow to start as soon as possible.",
      ),
    ];
  }
  return !isInThePast(resource, now)
    ? []
    : [
        {
          effect: "BAD_REQUEST",
          path: `${path}.scheduledTimestamp`,
          code: "SCHEDULE_IN_THE_PAST",
          message: `The scheduled time ${resource.scheduledTimestamp ?? ""} has passed.`,
          remediation: "Give a time in the future, or set upgradeNow to true.",
        },
      ];
});

/** Whoever has an upgrade ignore maintenance windows says why. */
export const overrideExplained: AdmissionRule = ({ spec }) => {
  const problem = overrideProblem(spec);
  const { errorCode = "", message = "", remediationMessage = "" } = problem ?? {};
  return problem ? [badField("reason", errorCode, message, remediationMessage)] : [];
};

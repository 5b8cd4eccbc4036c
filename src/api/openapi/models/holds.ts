import { Hold, HoldSpec, PageOfHold } from "../../../domain/hold";
import { type Component, object, pageFields } from "../component";

/** Holds of clusters and hosts. */
export const holdModels = {
  HoldSpec: object(HoldSpec, "Why to hold something.", {
    reason: "The reason, shown wherever something waits for the end of the hold.",
    until: "When the hold ends automatically. Absent: never.",
  }),
  Hold: object(Hold, "A hold of a cluster, or of one of its hosts.", {
    clusterId: "Id of the cluster.",
    clusterName: "Name of the cluster.",
    hostId: "Id of the host at its component manager. Absent: the whole cluster is held.",
    hostName: "Name of the host. Absent: the whole cluster is held.",
    reason: "Why it is held.",
    placedBy: "Who placed the hold.",
    since: "When it began.",
    until: "When it ends automatically. Absent: never.",
  }),
  PageOfHold: object(PageOfHold, "One page of the holds in force.", pageFields("holds")),
} satisfies Readonly<Record<string, Component>>;

import { Hold, HoldSpec, PageOfHold } from "../../../domain/hold";
import { type Component, object, pageFields } from "../component";

/** Holds of clusters and hosts. */
export const holdModels = {
  HoldSpec: object(HoldSpec, "Why something is to be held.", {
    reason: "Why; shown wherever something waits for the end of the hold.",
    until: "When the hold ends by itself. Absent: never.",
  }),
  Hold: object(Hold, "A hold of a cluster, or of one of its hosts.", {
    clusterId: "Id of the cluster.",
    clusterName: "Name of the cluster.",
    hostId: "Id of the host at its component manager. Absent: the whole cluster is held.",
    hostName: "Name of the host. Absent: the whole cluster is held.",
    reason: "Why it is held.",
    placedBy: "Who has placed the hold.",
    since: "Since when.",
    until: "When it ends by itself. Absent: never.",
  }),
  PageOfHold: object(PageOfHold, "One page of the holds in force.", pageFields("holds")),
} satisfies Readonly<Record<string, Component>>;

import * as t from "io-ts";
import { model } from "./codec";
import type { ErrorBody } from "./errors";
import { PageMetadata } from "./page";
import { Reason } from "./spec/change-record";
import { Timestamp } from "./timestamp";

/**
 * A hold: nothing of a cluster begins any more, or a host is left out of upgrades, until it is released or its time has come.
 * Memo and input of its Workflow.
 */
export const Hold = model(
  /** `clusterId`: resource id of the cluster. */
  { clusterId: t.string, clusterName: t.string, reason: t.string, placedBy: t.string, since: Timestamp },
  {
    /** The component manager's id of the host; absent means the whole cluster. */
    hostId: t.string,
    hostName: t.string,
    /** When it ends by itself. */
    until: Timestamp,
  },
);
export type Hold = t.TypeOf<typeof Hold>;

/** Body of a PUT of a hold. */
export const HoldSpec = model({ reason: Reason }, { until: Timestamp });
export type HoldSpec = t.TypeOf<typeof HoldSpec>;

/** One page of the holds in force. */
export const PageOfHold = model({}, { elements: t.array(Hold), pageMetadata: PageMetadata });
export type PageOfHold = t.TypeOf<typeof PageOfHold>;

/** What can be held: a cluster or, with `hostId`, one of its hosts. */
export type HoldTarget = Pick<Hold, "clusterId" | "hostId">;

/** Hosts of a cluster, by the ids of its component manager. */
export interface HostsOfCluster {
  readonly cluster: string;
  readonly hosts: readonly string[];
}

/** The holds that these hosts may have. */
export function hostTargets({ cluster: clusterId, hosts }: HostsOfCluster): HoldTarget[] {
  return hosts.map((hostId) => ({ clusterId, hostId }));
}

/** The Workflow ID of a hold: that it runs is the hold. */
export function holdWorkflowId({ clusterId, hostId }: HoldTarget): string {
  return ["hold", clusterId, hostId].flatMap((part) => (part === undefined ? [] : escaped(part))).join("/");
}

/** Ids may have slashes of their own. */
function escaped(id: string): string {
  return id.replaceAll("%", "%25").replaceAll("/", "%2F");
}

/** Why nothing begins of what is held, or why a host is left out: who has placed the hold, since when, why, until when. */
export function heldError(hold: Hold): ErrorBody {
  const { clusterId, clusterName, hostId, hostName = hostId, reason, placedBy, since, until } = hold;
  const what = hostId === undefined ? `cluster ${clusterName}` : `host ${hostName} of cluster ${clusterName}`;
  const end = until === undefined ? "" : `, until ${until}`;
  return {
    errorCode: hostId === undefined ? "RESOURCE_HELD" : "HOST_HELD",
    errorType: "CONFLICT",
    message: `${placedBy} has held ${what} since ${since}${end}: ${reason.replace(/[.\s]+$/, "")}.`,
    remediationMessage: "Wait until the hold is released or expires, or ask who placed it.",
    context: {
      reason,
      placedBy,
      since,
      resourceId: clusterId,
      ...(hostId !== undefined && { hostId }),
      ...(until !== undefined && { until }),
    },
  };
}

import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { Timestamp } from "../timestamp";
import { compareVersions } from "../version";

/** The components of NETVIRT, as its upgrade coordinator names them. */
export const NetvirtComponentType = OneOf("MP", "EDGE", "HOST", "FINALIZE_UPGRADE");
export type NetvirtComponentType = t.TypeOf<typeof NetvirtComponentType>;

/** What operators call a component. */
export const netvirtComponentNames: Readonly<Record<NetvirtComponentType, string>> = {
  MP: "managers",
  EDGE: "edge clusters",
  HOST: "host clusters",
  FINALIZE_UPGRADE: "finalization",
};

/**
 * The components that are upgraded, in the order that the target version asks for (docs/spec-gaps.md, order of
 * NETVIRT): from 9.0 on the managers come first and a last step finalizes the upgrade.
 */
export function netvirtComponentOrder(targetVersion: string, edgeOnly: boolean): readonly NetvirtComponentType[] {
  if (edgeOnly) return ["EDGE"];
  return compareVersions(targetVersion, "9.0") < 0
    ? ["EDGE", "HOST", "MP"]
    : ["MP", "EDGE", "HOST", "FINALIZE_UPGRADE"];
}

export const NetvirtNodeStatus = OneOf("NOT_STARTED", "IN_PROGRESS", "SUCCESS", "FAILED");
export type NetvirtNodeStatus = t.TypeOf<typeof NetvirtNodeStatus>;

/** How far one node is. `percent` from 0 to 100; `error` is what the coordinator says of a failed one. */
export const NetvirtNodeState = model(
  { id: t.string, status: NetvirtNodeStatus, percent: t.number },
  { error: t.string },
);
export type NetvirtNodeState = t.TypeOf<typeof NetvirtNodeState>;

/** A manager, edge or host as the coordinator lists it: one unit of its plan. */
export interface NetvirtNode extends NetvirtNodeState {
  readonly name: string;
  /** Empty where the coordinator does not know it. */
  readonly version: string;
}

/** A group of nodes: an edge cluster, a host cluster, the managers. */
export interface NetvirtGroup {
  /** The coordinator's id of the unit group. */
  readonly id: string;
  readonly name: string;
  /** Whether this upgrade is to upgrade it. */
  readonly included: boolean;
  /** How many nodes it has; `nodes` may be cut short. */
  readonly nodeCount: number;
  readonly nodes: readonly NetvirtNode[];
}

/** A component before it is upgraded. LEFT_OUT: the request names none of its groups. */
export interface NetvirtComponent {
  readonly type: NetvirtComponentType;
  readonly state: "TO_DO" | "AT_TARGET" | "LEFT_OUT";
  readonly groups: readonly NetvirtGroup[];
}

/** The most nodes of one NETVIRT instance that are listed on a Task: its payloads and memos hold 2 MiB. */
export const maximumListedNodes = 2_000;

/**
 * What is known of one component's upgrade while it runs: the heartbeat details of `upgradeNetvirtComponent`. A later
 * run of the Activity starts from it, and the Task shows its nodes. `nodes` are those that have begun, as many as fit.
 */
export const NetvirtProgress = model(
  {
    component: NetvirtComponentType,
    /** Failures that the coordinator reported; only these use up attempts (docs/spec-gaps.md, what consumes an attempt). */
    reportedFailures: WholeNumber,
    /** One sentence on what happens now, for the operator. */
    activity: t.string,
    /** Of the component, as the coordinator counts it. */
    percent: t.number,
    nodes: t.array(NetvirtNodeState),
  },
  {
    /** When this attempt asked, or was about to ask, for the upgrade. */
    requestedAt: Timestamp,
    /** How the component stood then, to tell what came of the request. */
    requestedFrom: t.string,
    /** Whether the coordinator has confirmed the request. */
    accepted: t.boolean,
    lastError: ErrorBody,
    /** How many reported failures the component may have in all. */
    maximumAttempts: WholeNumber,
  },
);
export type NetvirtProgress = t.TypeOf<typeof NetvirtProgress>;

/** How the upgrade of one component ended well: every node that was to be upgraded is. */
export interface NetvirtComponentResult {
  readonly component: NetvirtComponentType;
  readonly outcome: "UPGRADED" | "ALREADY_AT_TARGET";
}

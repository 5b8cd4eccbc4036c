import * as t from "io-ts";
import { Identifier, model, OneOf, ResourceId, Text, WholeNumber } from "../codec";
import { Timestamp } from "../timestamp";
import { Reason } from "./change-record";

/** How much a finding matters: an `ERROR` blocks the upgrade until it is fixed or acknowledged, nothing else does. */
export const FindingSeverity = OneOf("ERROR", "WARNING", "INFO");
export type FindingSeverity = t.TypeOf<typeof FindingSeverity>;

/** An operator's word that an upgrade may go on in spite of a finding. */
export const Acknowledgement = model(
  { by: t.string, at: Timestamp, reason: t.string },
  {
    /** From then on it does not count any more; absent means for the whole upgrade. */
    until: Timestamp,
  },
);
export type Acknowledgement = t.TypeOf<typeof Acknowledgement>;

/** Something that a precheck has found out about a resource. `code` is for programs, and one of docs/error-codes.md. */
export const Finding = model(
  {
    severity: FindingSeverity,
    code: t.string,
    message: t.string,
    remediationMessage: t.string,
    resourceId: t.string,
    isAcknowledgeable: t.boolean,
  },
  {
    /** The component manager's id and the name of the host that it is about; absent where it is about the whole resource. */
    hostId: t.string,
    hostName: t.string,
    /** What of the resource or host it is about, where several findings can have its code: a check, a task, a component. */
    subject: t.string,
    acknowledged: Acknowledgement,
  },
);
export type Finding = t.TypeOf<typeof Finding>;

/** Numbers of findings of the latest prechecks of each resource. Acknowledged ones count as nothing else. */
export const FindingCounts = model(
  { errors: WholeNumber, warnings: WholeNumber, infos: WholeNumber, acknowledged: WholeNumber },
  {},
);
export type FindingCounts = t.TypeOf<typeof FindingCounts>;

/** What an acknowledgement says. The first three are always there. */
export const acknowledgementFields = {
  code: Identifier,
  resourceId: ResourceId,
  reason: Reason,
  hostId: Identifier,
  subject: Text,
  until: Timestamp,
};

const { code, resourceId, reason, ...narrower } = acknowledgementFields;

/** Which finding is acknowledged, and why: the body of `POST /v1/upgrades/{id}/prechecks/{precheckId}/acknowledge`. */
export const AcknowledgementSpec = model({ code, resourceId, reason }, narrower);
export type AcknowledgementSpec = t.TypeOf<typeof AcknowledgementSpec>;

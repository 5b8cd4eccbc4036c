import {
  Acknowledgement,
  AcknowledgementSpec,
  Finding,
  FindingCounts,
  FindingSeverity,
} from "../../../domain/spec/finding";
import { type Component, enumeration, object, withoutOtherFields } from "../component";

/** What prechecks find, and how it is acknowledged. */
export const findingModels = {
  Finding: object(Finding, "Something that a precheck found out about a resource.", {
    severity: "How much it matters.",
    code: "What it is, for programs; one of the error codes.",
    message: "What it is, for people.",
    remediationMessage: "What to do about it.",
    resourceId: "Id of the cluster, NETVIRT instance or management server.",
    isAcknowledgeable: "Whether an operator can acknowledge it. Other errors must be fixed.",
    hostId: "Id of the host, if it is about one.",
    hostName: "Name of that host.",
    subject: "What it is about, if the resource or host can have several findings with this code.",
    acknowledged: "Who accepted it, when and why. Absent if nobody did.",
  }),
  FindingSeverity: enumeration(FindingSeverity, "How much a finding matters.", {
    ERROR: "Blocks the upgrade until it is fixed or acknowledged.",
    WARNING: "Does not block. Unacknowledged, the upgrade ends with warnings.",
    INFO: "Good to know.",
  }),
  Acknowledgement: object(Acknowledgement, "An operator's word that an upgrade may go on in spite of a finding.", {
    by: "Who acknowledged it.",
    at: "When it was acknowledged.",
    reason: "Why, for people.",
    until: "When the acknowledgement ends. Absent: with the upgrade.",
  }),
  AcknowledgementSpec: {
    ...object(AcknowledgementSpec, "Which finding is acknowledged, and why.", {
      code: "Code of the finding.",
      resourceId: "Id of its resource.",
      hostId: "Id or name of its host. Required if the finding is about a host.",
      subject: "Its subject. Absent: all findings that this run has with this code on this resource or host.",
      reason: "Why the upgrade may go on in spite of it, for people.",
      until: "When the acknowledgement ends. Absent: with the upgrade.",
    }),
    inFull: withoutOtherFields,
  },
  FindingCounts: object(FindingCounts, "Numbers of findings, of the latest prechecks of each resource.", {
    errors: "Unacknowledged errors.",
    warnings: "Unacknowledged warnings.",
    infos: "Findings that are only good to know.",
    acknowledged: "Acknowledged findings, which no other number counts.",
  }),
} satisfies Readonly<Record<string, Component>>;

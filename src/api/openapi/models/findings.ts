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
  Finding: object(Finding, "Something that a precheck found about a resource.", {
    severity: "How severe it is.",
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
  FindingSeverity: enumeration(FindingSeverity, "How severe a finding is.", {
    ERROR: "Blocks the upgrade until it is fixed or acknowledged.",
    WARNING: "Does not block. If nobody acknowledges it, the upgrade ends with warnings.",
    INFO: "For information only.",
  }),
  Acknowledgement: object(Acknowledgement, "An operator's decision that an upgrade may continue despite a finding.", {
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
      reason: "Why the upgrade may continue despite it, for people.",
      until: "When the acknowledgement ends. Absent: with the upgrade.",
    }),
    inFull: withoutOtherFields,
  },
  FindingCounts: object(FindingCounts, "Numbers of findings in the latest prechecks of each resource.", {
    errors: "Unacknowledged errors.",
    warnings: "Unacknowledged warnings.",
    infos: "Findings for information only.",
    acknowledged: "Acknowledged findings, which no other number counts.",
  }),
} satisfies Readonly<Record<string, Component>>;

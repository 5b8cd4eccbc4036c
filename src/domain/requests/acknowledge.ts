import * as E from "fp-ts/Either";
import type { ErrorBody } from "../errors";
import type { AcknowledgementSpec, Finding } from "../spec/finding";
import { whyNotAcknowledgeable } from "../task/acknowledgeable";
import type { AcknowledgedFinding, CurrentFinding } from "../task/findings";
import { precheckRunOf, precheckTaskId } from "../task/prechecks";
import { toEpochMilliseconds } from "../timestamp";

/** Acknowledgements that one upgrade keeps; more would not fit into what a run of its Workflow hands to the next. */
export const maximumAcknowledgements = 200;

/** What the prechecks of an upgrade have found. */
export interface PrecheckedContext {
  readonly upgradeId: string;
  readonly findings: readonly CurrentFinding[];
  readonly acknowledged: readonly AcknowledgedFinding[];
}

/** What is asked: which finding, of which run of the prechecks. */
export type AskedAcknowledgement = Partial<Omit<AcknowledgementSpec, "reason">> & { readonly precheckId?: string };

/** The findings that a request means. Those on other hosts, and of other codes or resources, never are. */
export function meantFindings(
  { code, resourceId, hostId, subject }: AskedAcknowledgement,
  findings: readonly CurrentFinding[],
): readonly CurrentFinding[] {
  return findings.filter(
    ({ finding }) =>
      finding.code === code &&
      finding.resourceId === resourceId &&
      isOn(hostId, finding) &&
      (subject === undefined || finding.subject === subject),
  );
}

/** Hosts may be named by their names as well. */
function isOn(hostId: string | undefined, finding: Finding): boolean {
  return hostId === undefined
    ? finding.hostId === undefined && finding.hostName === undefined
    : finding.hostId === hostId || finding.hostName === hostId;
}

/** Whether a finding of the prechecks may be acknowledged. Without `prechecked` only the upgrade itself can tell. */
export function decideFinding(
  asked: AskedAcknowledgement,
  { prechecked, now }: { readonly prechecked?: PrecheckedContext | undefined; readonly now: number },
): E.Either<ErrorBody, void> {
  const { until } = asked;
  if (until !== undefined && toEpochMilliseconds(until) <= now) return E.left(endsInThePast(until));
  if (!prechecked) return E.right(undefined);
  const meant = meantFindings(asked, prechecked.findings);
  if (meant.length === 0) return E.left(notFound(asked, prechecked.findings));
  const outdated = meant.find(
    ({ run }) => asked.precheckId !== undefined && run !== precheckRunOf(asked.precheckId)?.run,
  );
  if (outdated) return E.left(superseded(precheckTaskId({ ...prechecked, run: outdated.run })));
  const hard = meant.find(({ finding }) => !finding.isAcknowledgeable);
  if (hard) return E.left(notAcknowledgeable(hard.finding));
  if (prechecked.acknowledged.length + meant.length <= maximumAcknowledgements) return E.right(undefined);
  return E.left({
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message: `The upgrade has ${prechecked.acknowledged.length} acknowledged findings and keeps at most ${maximumAcknowledgements}.`,
    remediationMessage: "Fix what the prechecks have found, or upgrade fewer resources at a time.",
  });
}

function endsInThePast(until: string): ErrorBody {
  return {
    errorCode: "ACKNOWLEDGEMENT_IN_THE_PAST",
    errorType: "INVALID_INPUT",
    message: `The time ${until} at which the acknowledgement would end has passed.`,
    remediationMessage: "Give a time in the future, or none to acknowledge it for this upgrade.",
    context: { path: "until" },
  };
}

/** Names the first part of what was asked for that is not there. */
function notFound(
  { code = "", resourceId = "", hostId, subject }: AskedAcknowledgement,
  findings: readonly CurrentFinding[],
): ErrorBody {
  const ofResource = findings.map(({ finding }) => finding).filter((finding) => finding.resourceId === resourceId);
  const ofCode = ofResource.filter((finding) => finding.code === code);
  const onHost = ofCode.filter((finding) => isOn(hostId, finding));
  const hosts = [...new Set(ofCode.flatMap((one) => one.hostId ?? one.hostName ?? []))].slice(0, 5).join(", ");
  const message =
    ofResource.length === 0
      ? `The prechecks have no finding for the resource ${resourceId}.`
      : ofCode.length === 0
        ? `The prechecks have no finding ${code} for the resource ${resourceId}.`
        : onHost.length > 0
          ? `The finding ${code} of the resource ${resourceId} is not about ${subject ?? ""}.`
          : hostId === undefined
            ? `The finding ${code} of the resource ${resourceId} is about hosts, and none is named. They are ${hosts}.`
            : `The prechecks have no finding ${code} for the host ${hostId} of the resource ${resourceId}.`;
  return {
    errorCode: "FINDING_NOT_FOUND",
    errorType: "NOT_FOUND",
    message,
    remediationMessage: "Read the latest prechecks for the code, resource and host of each finding.",
    context: { code, resourceId, ...(hostId !== undefined && { hostId }), ...(subject !== undefined && { subject }) },
  };
}

function superseded(precheckId: string): ErrorBody {
  return {
    errorCode: "PRECHECKS_SUPERSEDED",
    errorType: "CONFLICT",
    message: `These are not the latest prechecks of the resource, which are ${precheckId}.`,
    remediationMessage: `Read ${precheckId}, then acknowledge its finding if it is still to be accepted.`,
    context: { precheckId },
  };
}

function notAcknowledgeable({ code, severity, message, remediationMessage }: Finding): ErrorBody {
  const why = severity === "INFO" ? "It blocks nothing." : (whyNotAcknowledgeable(code) ?? "");
  return {
    errorCode: "FINDING_NOT_ACKNOWLEDGEABLE",
    errorType: "CONFLICT",
    message: `The finding ${code} cannot be acknowledged. ${why} It says: ${message}`,
    remediationMessage,
    context: { code },
  };
}

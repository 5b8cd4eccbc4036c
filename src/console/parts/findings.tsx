import { useState } from "preact/hooks";
import type { Finding } from "../../domain/spec/finding";
import { acknowledgementOf, isOffered, wordsOfFinding } from "../model/findings";
import { timestampOf } from "../model/local-time";
import { ErrorCode } from "./error-note";
import { Moment } from "./moment";
import { RequestDialog, SentenceField, TimeField } from "./request-dialog";
import { StatusBadge } from "./status-badge";

/** Sends an acknowledgement; rejects where the service refuses. Undefined where none is taken, or not from this caller. */
export type Acknowledge = ((body: ReturnType<typeof acknowledgementOf>) => Promise<void>) | undefined;

interface FindingsProps {
  readonly findings: readonly Finding[];
  readonly now: number;
  readonly acknowledge: Acknowledge;
}

/** What a check found: how severe it is, what to do, and who has accepted it. */
export function Findings({ findings, now, acknowledge }: FindingsProps) {
  const [chosen, setChosen] = useState<Finding>();
  return (
    <>
      <ul class="findings">
        {findings.map((finding, i) => (
          <li key={i}>
            <p>
              <StatusBadge words={wordsOfFinding(finding, now)} /> {finding.message}
            </p>
            <p class="remedy">What to do: {finding.remediationMessage}</p>
            {finding.acknowledged && (
              <p class="small">
                {finding.acknowledged.by} acknowledged it <Moment at={Date.parse(finding.acknowledged.at)} now={now} />
                {finding.acknowledged.until !== undefined && (
                  <>
                    , until <Moment at={Date.parse(finding.acknowledged.until)} now={now} />
                  </>
                )}
                : {finding.acknowledged.reason}
              </p>
            )}
            <p class="small">
              <ErrorCode code={finding.code} />
              {finding.hostName !== undefined && `, host ${finding.hostName}`}
            </p>
            {acknowledge && isOffered(finding, now) && (
              <button
                type="button"
                aria-label={`Acknowledge ${finding.code}: ${finding.message}`}
                onClick={() => setChosen(finding)}
              >
                Acknowledge
              </button>
            )}
          </li>
        ))}
      </ul>
      {acknowledge && chosen && (
        <AcknowledgeDialog finding={chosen} acknowledge={acknowledge} close={() => setChosen(undefined)} />
      )}
    </>
  );
}

interface AcknowledgeDialogProps {
  readonly finding: Finding;
  readonly acknowledge: NonNullable<Acknowledge>;
  readonly close: () => void;
}

/** Asks why a finding is accepted, and until when. */
function AcknowledgeDialog({ finding, acknowledge, close }: AcknowledgeDialogProps) {
  const [reason, setReason] = useState("");
  const [until, setUntil] = useState("");
  const send = () => {
    const end = until === "" ? {} : { until: timestampOf(until) };
    return acknowledge(acknowledgementOf(finding, { reason: reason.trim(), ...end }));
  };
  return (
    <RequestDialog title="Acknowledge this finding" submit="Acknowledge" send={send} close={close}>
      <p>{finding.message}</p>
      <p>It no longer blocks this upgrade, also if the prechecks run again. Other findings still do.</p>
      <SentenceField label="Reason" value={reason} required onChange={setReason} />
      <TimeField label="Until (optional)" value={until} onChange={setUntil} />
    </RequestDialog>
  );
}

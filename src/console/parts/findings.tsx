import { useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import type { Finding } from "../../domain/spec/finding";
import { errorBodyOf } from "../client/send-request";
import { acknowledgementOf, isOffered, wordsOfFinding } from "../model/findings";
import { timestampOf } from "../model/local-time";
import { ErrorCode, ErrorNote } from "./error-note";
import { useModal } from "./modal";
import { Moment } from "./moment";
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
  const dialog = useModal();
  const [reason, setReason] = useState("");
  const [until, setUntil] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ErrorBody>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    setError(undefined);
    try {
      const end = until === "" ? undefined : timestampOf(until);
      await acknowledge(
        acknowledgementOf(finding, { reason: reason.trim(), ...(end !== undefined && { until: end }) }),
      );
      close();
    } catch (thrown) {
      setError(errorBodyOf(thrown));
      setAsking(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="acknowledge-title" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="acknowledge-title">Acknowledge this finding?</h2>
        <p>{finding.message}</p>
        <p>It no longer blocks this upgrade, also if the prechecks run again. Other findings still do.</p>
        <label class="field">
          Reason
          <input
            type="text"
            value={reason}
            maxLength={1024}
            required
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          Until (optional)
          <input type="datetime-local" value={until} onInput={(event) => setUntil(event.currentTarget.value)} />
        </label>
        {error && <ErrorNote error={error} isAlert />}
        <p role="status" class="small">
          {isAsking ? "Asking the service…" : ""}
        </p>
        <div class="buttons">
          <button type="submit" class="primary" disabled={isAsking}>
            Acknowledge
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Go back
          </button>
        </div>
      </form>
    </dialog>
  );
}

import { useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import { type Freeze, FreezeStatus } from "../../domain/freeze";
import { toEpochMilliseconds } from "../../domain/timestamp";
import { askApi, usePolled } from "../client/ask-api";
import { errorBodyOf, serverNow } from "../client/send-request";
import { session } from "../client/session";
import { ErrorNote } from "./error-note";
import { useModal } from "./modal";
import { Moment } from "./moment";

/** Milliseconds between two looks at what is frozen. */
const every = 5_000;

/** What is frozen, on every page, and the button of the emergency stop for those who may press it. */
export function FreezeBanner() {
  const { value: status, refresh } = usePolled(FreezeStatus, "/v1/freeze", every);
  const [asks, setAsks] = useState<"FREEZE" | "THAW">();
  const mayOperate = session.value?.mayOperate === true;
  if (!status) return null;
  const isAllFrozen = status.freezes.some(({ domain }) => domain === undefined);
  return (
    <section class={status.frozen ? "freeze frozen" : "freeze"} aria-label="Emergency stop">
      <div role="status">
        {status.freezes.map((freeze) => (
          <FreezeLine key={freeze.domain ?? ""} freeze={freeze} />
        ))}
        {status.frozen && <p class="small">Nothing new begins. {inWork(status)}</p>}
      </div>
      {mayOperate && (
        <div class="buttons">
          {status.frozen && (
            <button type="button" onClick={() => setAsks("THAW")}>
              Lift the freeze
            </button>
          )}
          {!isAllFrozen && (
            <button type="button" class="grave" onClick={() => setAsks("FREEZE")}>
              Freeze everything
            </button>
          )}
        </div>
      )}
      {asks && <FreezeDialog asks={asks} status={status} onDone={refresh} close={() => setAsks(undefined)} />}
    </section>
  );
}

function FreezeLine({ freeze: { domain, reason, frozenBy, since, until } }: { readonly freeze: Freeze }) {
  return (
    <p>
      <strong>{domain === undefined ? "Everything is frozen" : `Domain ${domain} is frozen`}</strong> by {frozenBy}{" "}
      since <Moment at={toEpochMilliseconds(since)} now={serverNow()} />
      {until !== undefined && (
        <>
          {" "}
          until <Moment at={toEpochMilliseconds(until)} now={serverNow()} />
        </>
      )}
      : {reason}
    </p>
  );
}

function inWork({ hostsInWork = 0 }: FreezeStatus): string {
  if (hostsInWork === 0) return "No host is in work.";
  return `${hostsInWork === 1 ? "1 host is" : `${hostsInWork} hosts are`} in work and will be finished.`;
}

interface FreezeDialogProps {
  readonly asks: "FREEZE" | "THAW";
  readonly status: FreezeStatus;
  readonly onDone: () => void;
  readonly close: () => void;
}

/** Says what the emergency stop or its end will do, and asks for a reason, or a yes. */
function FreezeDialog({ asks, status, onDone, close }: FreezeDialogProps) {
  const dialog = useModal();
  const [reason, setReason] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ErrorBody>();
  const isFreeze = asks === "FREEZE";
  const title = isFreeze ? "Freeze everything" : "Lift the freeze";
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    setError(undefined);
    try {
      const request = isFreeze ? { method: "PUT" as const, body: { reason } } : { method: "DELETE" as const };
      await askApi(FreezeStatus, { path: "/v1/freeze", ...request });
      onDone();
      close();
    } catch (thrown) {
      setError(errorBodyOf(thrown));
      setAsking(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="freeze-title" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="freeze-title">{title}?</h2>
        {isFreeze ? (
          <p>
            Within 5 seconds nothing new begins, in any domain. {inWork(status)} Starts and commits are refused until
            the freeze is lifted.
          </p>
        ) : (
          <p>Everything that the freeze stopped continues. What an operator paused stays paused.</p>
        )}
        {isFreeze && (
          <label class="field">
            Reason
            <input value={reason} required maxLength={1024} onInput={(event) => setReason(event.currentTarget.value)} />
          </label>
        )}
        {error && <ErrorNote error={error} isAlert />}
        <p role="status" class="small">
          {isAsking ? "Asking the service…" : ""}
        </p>
        <div class="buttons">
          <button type="submit" class={isFreeze ? "grave" : "primary"} disabled={isAsking}>
            {title}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Go back
          </button>
        </div>
      </form>
    </dialog>
  );
}

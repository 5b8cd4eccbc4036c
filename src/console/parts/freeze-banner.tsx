import { useState } from "preact/hooks";
import { type Freeze, FreezeStatus } from "../../domain/freeze";
import { toEpochMilliseconds } from "../../domain/timestamp";
import { askApi, usePolled } from "../client/ask-api";
import { serverNow } from "../client/send-request";
import { session } from "../client/session";
import { Moment } from "./moment";
import { RequestDialog, SentenceField } from "./request-dialog";

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
  const [reason, setReason] = useState("");
  const isFreeze = asks === "FREEZE";
  const title = isFreeze ? "Freeze everything" : "Lift the freeze";
  const send = async () => {
    const request = isFreeze ? { method: "PUT" as const, body: { reason } } : { method: "DELETE" as const };
    await askApi(FreezeStatus, { path: "/v1/freeze", ...request });
    onDone();
  };
  return (
    <RequestDialog title={title} submit={title} isGrave={isFreeze} send={send} close={close}>
      {isFreeze ? (
        <>
          <p>
            Within 5 seconds nothing new begins, in any domain. {inWork(status)} Starts and commits are refused until
            the freeze is lifted.
          </p>
          <SentenceField label="Reason" value={reason} required onChange={setReason} />
        </>
      ) : (
        <p>Everything that the freeze stopped continues. What an operator paused stays paused.</p>
      )}
    </RequestDialog>
  );
}

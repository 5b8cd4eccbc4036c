import { useState } from "preact/hooks";
import { type Hold, type HoldTarget, PageOfHold } from "../../domain/hold";
import type { Task } from "../../domain/spec/task";
import { toEpochMilliseconds } from "../../domain/timestamp";
import { openApi, usePolled } from "../client/ask-api";
import { serverNow } from "../client/send-request";
import { session } from "../client/session";
import { canHold, type HoldableCluster, holdableClusters, holdName, holdPath } from "../model/holdable";
import { Moment } from "./moment";
import { RequestDialog, SentenceField } from "./request-dialog";

/** Milliseconds between two looks at what is held. */
const every = 5_000;

interface Asked extends HoldTarget {
  readonly asks: "HOLD" | "RELEASE";
  readonly name: string;
}

/** What is held of the clusters and hosts of an upgrade, and buttons to hold and release them for those who may press them. */
export function Holds({ task }: { readonly task: Task }) {
  const { value, refresh } = usePolled(PageOfHold, "/v1/holds", every);
  const [asked, setAsked] = useState<Asked>();
  const clusters = holdableClusters(task);
  if (clusters.length === 0) return null;
  const mayOperate = session.value?.mayOperate === true;
  const holds = (value?.elements ?? []).filter(({ clusterId }) => clusters.some(({ id }) => id === clusterId));
  const hasEnded = task.completionTimestamp !== undefined;
  if (holds.length === 0 && (!mayOperate || hasEnded)) return null;
  return (
    <section class="card holds" aria-labelledby="holds-title">
      <h2 id="holds-title">Holds</h2>
      <div role="status">
        {holds.length === 0 && <p class="small">Nothing of this upgrade is held.</p>}
        {holds.map((hold) => (
          <HoldLine key={holdPath(hold)} hold={hold} release={mayOperate ? setAsked : undefined} />
        ))}
      </div>
      {mayOperate && !hasEnded && <HoldChoice clusters={clusters} holds={holds} ask={setAsked} />}
      {asked && <HoldDialog asked={asked} onDone={refresh} close={() => setAsked(undefined)} />}
    </section>
  );
}

interface HoldLineProps {
  readonly hold: Hold;
  readonly release: ((asked: Asked) => void) | undefined;
}

function HoldLine({ hold, release }: HoldLineProps) {
  const { reason, placedBy, since, until } = hold;
  return (
    <p>
      <strong>{holdName(hold)}</strong> has been held by {placedBy} since{" "}
      <Moment at={toEpochMilliseconds(since)} now={serverNow()} />
      {until !== undefined && (
        <>
          {" "}
          until <Moment at={toEpochMilliseconds(until)} now={serverNow()} />
        </>
      )}
      : {reason}{" "}
      {release && (
        <button type="button" onClick={() => release({ ...hold, asks: "RELEASE", name: holdName(hold) })}>
          Release {holdName(hold)}
        </button>
      )}
    </p>
  );
}

interface HoldChoiceProps {
  readonly clusters: readonly HoldableCluster[];
  readonly holds: readonly Hold[];
  readonly ask: (asked: Asked) => void;
}

function HoldChoice({ clusters, holds, ask }: HoldChoiceProps) {
  const choices = canHold(clusters, holds);
  const [chosen, setChosen] = useState("");
  const choice = choices.find(({ target }) => holdPath(target) === chosen) ?? choices[0];
  if (!choice) return null;
  return (
    <div class="buttons">
      <label class="field">
        Cluster or host
        <select value={holdPath(choice.target)} onChange={(event) => setChosen(event.currentTarget.value)}>
          {choices.map(({ target, name }) => (
            <option key={holdPath(target)} value={holdPath(target)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => ask({ ...choice.target, asks: "HOLD", name: choice.name })}>
        Hold
      </button>
    </div>
  );
}

interface HoldDialogProps {
  readonly asked: Asked;
  readonly onDone: () => void;
  readonly close: () => void;
}

/** Says what a hold or its release does, and asks for a reason, or a yes. */
function HoldDialog({ asked, onDone, close }: HoldDialogProps) {
  const [reason, setReason] = useState("");
  const isHold = asked.asks === "HOLD";
  const submit = isHold ? "Hold" : "Release";
  const send = async () => {
    const path = holdPath(asked);
    await openApi(isHold ? { method: "PUT", path, body: { reason } } : { method: "DELETE", path });
    onDone();
  };
  const whatItDoes =
    asked.hostId === undefined
      ? "Nothing of the cluster begins any more; hosts in work are finished. What waits continues when the hold is released."
      : "Upgrades leave the host out when its turn comes, and end with a warning. If it is in work, it is finished.";
  return (
    <RequestDialog title={`${submit} ${asked.name}`} submit={submit} send={send} close={close}>
      {isHold ? (
        <>
          <p>{whatItDoes}</p>
          <SentenceField label="Reason" value={reason} required onChange={setReason} />
        </>
      ) : (
        <p>What the hold has kept from beginning may begin. The hold of somebody else needs the role ADMIN.</p>
      )}
    </RequestDialog>
  );
}

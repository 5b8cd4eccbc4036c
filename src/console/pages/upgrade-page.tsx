import { useEffect, useMemo, useState } from "preact/hooks";
import { Upgrade } from "../../domain/upgrade";
import { followTask, type Line } from "../client/follow-task";
import { openApi } from "../client/ask-api";
import { installation } from "../client/session";
import { usePolled } from "../client/use-polled";
import { knownStatus } from "../model/known-status";
import { operationsOf, type Operation } from "../model/operations";
import { wordsOfPhase } from "../model/status-words";
import { nothingKnown, type FollowedTask } from "../model/task-events";
import { ConfirmDialog } from "../parts/confirm-dialog";
import { ErrorNote } from "../parts/error-note";
import { OverallProgress } from "../parts/overall-progress";
import { StatusBadge } from "../parts/status-badge";
import { TaskTree } from "../parts/task-tree";
import { TimelinePicture } from "../parts/timeline-picture";

/** One upgrade, live: where it stands, what can be done with it, and every part of it. */
export function UpgradePage({ id }: { readonly id: string }) {
  const [followed, setFollowed] = useState<FollowedTask>(nothingKnown);
  const [line, setLine] = useState<Line>({ state: "CONNECTING" });
  const [followings, setFollowings] = useState(0);
  const [chosen, setChosen] = useState<Operation>();
  const now = useNow(followed.task?.completionTimestamp === undefined);
  const upgrade = usePolled(Upgrade, `/v1/upgrades/${id}`, 2000);
  useEffect(() => {
    const stop = new AbortController();
    void followTask(id, { onTask: setFollowed, onLine: setLine }, stop.signal);
    return () => stop.abort();
  }, [id, followings]);
  const { task, unavailable } = followed;
  const status = task && knownStatus(upgrade.value?.status, task);
  const operations = useMemo(
    () => (task && status && upgrade.value && line.state !== "LOST" ? operationsOf({ id, status }, task) : []),
    [id, task, status, upgrade.value, line.state],
  );
  const perform = async ({ method, path }: Operation, at?: string) => {
    await openApi({ method, path, ...(at !== undefined && { body: { scheduledTimestamp: at } }) });
    upgrade.refresh();
    if (line.state === "ENDED") setFollowings((n) => n + 1);
  };
  if (!task)
    return line.state === "LOST" || line.state === "REFUSED" ? (
      <ErrorNote error={line.error} isAlert />
    ) : (
      <p>Reading the upgrade…</p>
    );
  return (
    <>
      <h1>{task.name}</h1>
      <div class="headline">
        <StatusBadge words={wordsOfPhase(status, task)} />
        <LineState line={line} />
        <WorkflowLink id={id} />
      </div>
      {line.state === "LOST" && <ErrorNote error={line.error} isAlert />}
      {unavailable && <ErrorNote error={unavailable} isAlert />}
      {task.localizableDescriptionPack?.message !== undefined &&
        task.localizableDescriptionPack.message !== task.name && <p>{task.localizableDescriptionPack.message}</p>}
      <OverallProgress task={task} now={now} />
      {operations.length > 0 && (
        <div class="buttons" role="group" aria-label="What can be done now">
          {operations.map((operation, i) => (
            <button
              key={operation.name}
              type="button"
              class={operation.isGrave ? "grave" : i === 0 ? "primary" : ""}
              onClick={() => setChosen(operation)}
            >
              {operation.label}
            </button>
          ))}
        </div>
      )}
      {chosen && (
        <ConfirmDialog
          key={chosen.name}
          operation={chosen}
          upgradeName={task.name}
          perform={perform}
          close={() => setChosen(undefined)}
        />
      )}
      {(task.errors?.length ?? 0) > 0 && (
        <section aria-labelledby="errors-title">
          <h2 id="errors-title">What went wrong</h2>
          {task.errors?.map((error, i) => (
            <ErrorNote key={i} error={error} />
          ))}
        </section>
      )}
      <section aria-labelledby="parts-title">
        <h2 id="parts-title">Parts</h2>
        <TaskTree task={task} />
      </section>
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <TimelinePicture task={task} now={now} />
      </section>
    </>
  );
}

const lineWords: Record<Line["state"], string> = {
  CONNECTING: "Connecting…",
  LIVE: "Live",
  ENDED: "Ended",
  LOST: "Connection lost, trying again…",
  REFUSED: "Not followed",
};

function LineState({ line }: { readonly line: Line }) {
  return (
    <span class={`line ${line.state.toLowerCase()}`} role="status">
      {lineWords[line.state]}
    </span>
  );
}

function WorkflowLink({ id }: { readonly id: string }) {
  const { temporalUiUrl, temporalNamespace = "" } = installation.value ?? {};
  if (temporalUiUrl === undefined) return null;
  return (
    <a href={`${temporalUiUrl}/namespaces/${encodeURIComponent(temporalNamespace)}/workflows/${id}`} rel="noreferrer">
      Workflow in the Temporal Web UI
    </a>
  );
}

/** Epoch milliseconds, a second at a time while it matters. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

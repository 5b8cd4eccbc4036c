import { useEffect, useMemo, useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { Upgrade } from "../../domain/spec/upgrade";
import { awaitsLateCommit } from "../../domain/task/late-start";
import { type FollowedTask, nothingKnown } from "../../domain/task/task-change";
import { openApi, usePolled } from "../client/ask-api";
import { followTask, type Line } from "../client/follow-task";
import { serverNow } from "../client/send-request";
import { installation, session } from "../client/session";
import { lineWords } from "../labels/line-labels";
import { screenReaderStatus } from "../model/host-progress";
import { knownStatus, wordsOfPhase } from "../model/labels";
import { type Operation, operationsOf } from "../model/operations";
import { ErrorNote } from "../parts/error-note";
import { OperationButtons } from "../parts/operations";
import { OverallProgress } from "../parts/overall-progress";
import { TaskParts } from "../parts/task-tree";
import { TimelinePicture } from "../parts/timeline-picture";
import { StatusBadge } from "../parts/status-badge";

/** One upgrade, live: where it stands, what can be done with it, and every part of it. */
export function UpgradePage({ id }: { readonly id: string }) {
  const [followed, setFollowed] = useState<FollowedTask>(nothingKnown);
  const [line, setLine] = useState<Line>({ state: "CONNECTING" });
  const [followings, setFollowings] = useState(0);
  const now = useServerTime(followed.task?.completionTimestamp === undefined && line.state !== "LOST");
  const upgrade = usePolled(Upgrade, `/v1/upgrades/${id}`, 2000);
  useEffect(() => {
    const stop = new AbortController();
    void followTask(id, { onTask: setFollowed, onLine: setLine }, stop.signal);
    return () => stop.abort();
  }, [id, followings]);
  const { task, unavailable } = followed;
  const status = task && knownStatus(upgrade.value?.status, task);
  const operations = useMemo(
    () =>
      task && status && upgrade.value && line.state !== "LOST"
        ? operationsOf({ ...upgrade.value, id, status }, task)
        : [],
    [id, task, status, upgrade.value, line.state],
  );
  const readStatus = upgrade.value?.status;
  const isUncertain =
    line.state === "ENDED" &&
    task?.status === "Failed" &&
    readStatus !== undefined &&
    readStatus !== "COMPLETED_WITH_FAILURE";
  useEffect(() => {
    if (!isUncertain) return undefined;
    // Somebody has retried it elsewhere. The events of what has failed are asked for too rarely to tell.
    const timer = setTimeout(() => setFollowings((n) => n + 1), 2000);
    return () => clearTimeout(timer);
  }, [isUncertain]);
  const perform = async ({ method, path }: Operation, at?: string) => {
    await openApi({ method, path, ...(at !== undefined && { body: { scheduledTimestamp: at } }) });
    upgrade.refresh();
    if (line.state === "ENDED") setFollowings((n) => n + 1);
  };
  if (!task)
    return line.state === "LOST" || line.state === "REFUSED" ? (
      <ErrorNote error={line.error} isAlert />
    ) : (
      <p role="status">Reading the upgrade…</p>
    );
  const phase = wordsOfPhase(status, task);
  // A Task keeps what failed before a retry. One that is blocked says so in its last error.
  const isPast =
    (task.status === "In Progress" && task.waitingFor?.code !== "WORKFLOW_TASK_FAILING") ||
    task.status === "Successful";
  const isLate = awaitsLateCommit(task);
  const said = task.localizableDescriptionPack?.message;
  return (
    <>
      <h1>{task.name}</h1>
      <p class="visually-hidden" role="status">
        {screenReaderStatus(phase.word, task)}
      </p>
      <div class="headline">
        <StatusBadge words={phase} />
        <LineState line={line} task={task} />
        <WorkflowLink id={id} />
      </div>
      {line.state === "LOST" && <ErrorNote error={line.error} isAlert />}
      {unavailable && <ErrorNote error={unavailable} isAlert />}
      {said !== undefined && said !== task.name && !isLate && <p>{said}</p>}
      {isLate && <p>{task.waitingFor?.message}</p>}
      <OverallProgress task={task} now={now} />
      <OperationButtons operations={operations} upgradeName={task.name} who={session.value} perform={perform} />
      {!isPast && <Errors task={task} title="What went wrong" />}
      <Warnings task={task} />
      <TaskParts task={task} />
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <TimelinePicture task={task} now={now} />
      </section>
      {isPast && <Errors task={task} title="What went wrong before the retry" />}
    </>
  );
}

function Warnings({ task: { warnings = [] } }: { readonly task: Task }) {
  if (warnings.length === 0) return null;
  return (
    <section class="warnings" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Without effect in the request</h2>
      <ul>
        {warnings.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </section>
  );
}

function Errors({ task: { errors = [] }, title }: { readonly task: Task; readonly title: string }) {
  if (errors.length === 0) return null;
  return (
    <section aria-labelledby="errors-title">
      <h2 id="errors-title">{title}</h2>
      {errors.map((error, i) => (
        <ErrorNote key={i} error={error} />
      ))}
    </section>
  );
}

function LineState({ line, task }: { readonly line: Line; readonly task: Task }) {
  return (
    <span class={`line ${line.state.toLowerCase()}`} role="status">
      {lineWords(line.state, task)}
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

/** Epoch milliseconds by the clock of the service, a second at a time while it matters. */
function useServerTime(isTicking: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => setNow(serverNow()), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}

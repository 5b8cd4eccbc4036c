import { useEffect, useMemo, useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { sentence } from "../../domain/sentence";
import { UpgradePreview } from "../../domain/plan/preview";
import { type PublishedPhase, Upgrade } from "../../domain/spec/upgrade";
import { awaitsLateCommit } from "../../domain/task/late-start";
import { type FollowedTask, nothingKnown } from "../../domain/task/task-change";
import { openApi, usePolled } from "../client/ask-api";
import { followTask, type Line } from "../client/follow-task";
import { useServerTime, useTitle } from "../client/page-hooks";
import { installation, session } from "../client/session";
import { timeDisplay } from "../client/time-display";
import { lineWords } from "../labels/line-labels";
import { type acknowledgementOf, takesAcknowledgements } from "../model/findings";
import { screenReaderStatus } from "../model/host-progress";
import { pageTitle } from "../model/header-facts";
import { knownStatus, wordsOfPhase, wordsOfPublishedPhase } from "../model/labels";
import { type Operation, operationsOf } from "../model/operations";
import { pausingCheck } from "../model/own-checks";
import { ActivityLog } from "../parts/activity-log";
import { fragmentOf } from "../model/page-address";
import { ErrorNote } from "../parts/error-note";
import { ErrorSummary, PastErrors } from "../parts/error-summary";
import { Holds } from "../parts/holds";
import { HostTable } from "../parts/host-table";
import { Moment } from "../parts/moment";
import { type Given, OperationButtons } from "../parts/operations";
import { PlanPreview } from "../parts/plan-preview";
import { Prechecks } from "../parts/prechecks";
import { TaskParts, type TreeTarget } from "../parts/task-tree";
import { TimelinePicture } from "../parts/timeline-picture";
import { StatusBadge } from "../parts/status-badge";
import { UpgradeFacts } from "../parts/upgrade-facts";

/** One upgrade, live: where it stands, what can be done with it, and every part of it. */
export function UpgradePage({ id }: { readonly id: string }) {
  const [followed, setFollowed] = useState<FollowedTask>(nothingKnown);
  const [line, setLine] = useState<Line>({ state: "CONNECTING" });
  const [followings, setFollowings] = useState(0);
  const [target, setTarget] = useState<TreeTarget>();
  const isMoving = followed.task?.completionTimestamp === undefined && line.state !== "LOST";
  const now = useServerTime(isMoving ? 1000 : 30_000);
  const upgrade = usePolled(Upgrade, `/v1/upgrades/${id}`, 2000);
  const { refresh } = upgrade;
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
  const change = task && [task.status, task.localizableDescriptionPack?.messageKey, task.isRetryable].join();
  useEffect(() => {
    // The Task comes as events: what is read now and then is read again when it says something else.
    if (change !== undefined) refresh();
  }, [change]);
  useTitle(task && pageTitle(upgrade.value, task));
  const perform = async ({ name, method, path, body: fixed }: Operation, { at, comment, part }: Given) => {
    const isReason = name === "skip" || name === "ignoreWindows";
    const body = {
      ...fixed,
      ...part,
      ...(at !== undefined && { scheduledTimestamp: at }),
      ...(comment !== undefined && (isReason ? { reason: comment } : { comment })),
    };
    await openApi({ method, path, ...(Object.keys(body).length > 0 && { body }) });
    upgrade.refresh();
    if (line.state === "ENDED") setFollowings((n) => n + 1);
  };
  const acknowledge = (precheckId: string) => async (body: ReturnType<typeof acknowledgementOf>) => {
    const path = `/v1/upgrades/${encodeURIComponent(id)}/prechecks/${encodeURIComponent(precheckId)}/acknowledge`;
    await openApi({ method: "POST", path, body });
    upgrade.refresh();
    if (line.state === "ENDED") setFollowings((n) => n + 1);
  };
  if (!task)
    return line.state === "LOST" || line.state === "REFUSED" ? (
      <ErrorNote error={line.error} isAlert />
    ) : (
      <p role="status">Reading the upgrade…</p>
    );
  const phase = upgrade.value?.phase ? wordsOfPublishedPhase(upgrade.value.phase) : wordsOfPhase(status, task);
  const words = phaseSentences(upgrade.value, task) ?? task.localizableDescriptionPack?.message;
  const goTo = (key: string) => setTarget({ key });
  return (
    <>
      <nav aria-label="Breadcrumb" class="breadcrumb">
        <ol>
          <li>
            <a href={fragmentOf({ page: "UPGRADES" })}>All upgrades</a>
          </li>
          <li aria-current="page">{task.name}</li>
        </ol>
      </nav>
      <h1>{task.name}</h1>
      <p class="visually-hidden" role="status">
        {screenReaderStatus(phase.word, task)}
      </p>
      <div class="headline">
        <StatusBadge words={phase} />
        <PhaseTimes upgrade={upgrade.value} now={now} />
        <LineState line={line} task={task} now={now} />
        <WorkflowLink id={id} />
        {session.value?.mayOperate && <a href={fragmentOf({ page: "NEW", like: id })}>New upgrade like this</a>}
      </div>
      {line.state === "LOST" && <ErrorNote error={line.error} isAlert />}
      {unavailable && <ErrorNote error={unavailable} isAlert />}
      {words !== undefined && words !== task.name && <p class="phase-words">{words}</p>}
      <OperationButtons
        operations={operations}
        upgrade={upgrade.value}
        upgradeName={task.name}
        who={session.value}
        perform={perform}
      />
      <UpgradeFacts upgrade={upgrade.value} task={task} now={now} />
      <ErrorSummary task={task} goTo={goTo} />
      <Warnings task={task} />
      <Prechecks
        task={task}
        now={now}
        acknowledge={session.value?.mayOperate && takesAcknowledgements(task) ? acknowledge : undefined}
      />
      {upgrade.value?.phase !== undefined && beforeCommit.has(upgrade.value.phase) && <DraftPlan id={id} />}
      <Holds task={task} />
      <HostTable task={task} versions={upgrade.value?.versions} now={now} goTo={goTo} />
      <TaskParts task={task} target={target} />
      <section aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <TimelinePicture task={task} now={now} />
      </section>
      <section aria-labelledby="activity-title">
        <h2 id="activity-title">Activity</h2>
        <ActivityLog id={id} isOpen={line.state !== "ENDED"} now={now} />
      </section>
      <PastErrors task={task} />
    </>
  );
}

/** What an upgrade waits for, with what ends the wait where that is an own check; undefined where it waits for nothing. */
function phaseSentences(upgrade: Upgrade | undefined, task: Task): string | undefined {
  const { code, message } = (awaitsLateCommit(task) ? task.waitingFor : upgrade?.waitingFor) ?? {};
  const paused = upgrade?.phase === "PAUSED" ? pausingCheck(task) : undefined;
  if (paused) return `${sentence(paused.message)} The upgrade continues when it is resumed.`;
  return code === "CHECK" && message !== undefined
    ? `${sentence(message)} The upgrade starts when the check passes.`
    : message;
}

const beforeCommit: ReadonlySet<PublishedPhase> = new Set(["DRAFT_PRECHECKS", "DRAFT_READY", "PRECHECKS_FAILED"]);

/** What a draft will do once it is committed, by its own plan and with the hosts as they are now. */
function DraftPlan({ id }: { readonly id: string }) {
  const { value, error } = usePolled(UpgradePreview, `/v1/upgrades/${encodeURIComponent(id)}/plan`, 60_000);
  return (
    <section class="draft-plan" aria-labelledby="plan-title">
      <h2 id="plan-title">The plan</h2>
      {error && <ErrorNote error={error} />}
      {value ? <PlanPreview preview={value} /> : !error && <p class="small">Reading the plan…</p>}
    </section>
  );
}

/** Since when an upgrade is in its phase, and until when by itself. */
function PhaseTimes({ upgrade, now }: { readonly upgrade: Upgrade | undefined; readonly now: number }) {
  const { since, until } = upgrade ?? {};
  if (since === undefined) return null;
  return (
    <span class="small">
      since <Moment at={Date.parse(since)} now={now} />
      {until !== undefined && (
        <>
          , until <Moment at={Date.parse(until)} now={now} />
        </>
      )}
    </span>
  );
}

function Warnings({ task: { warnings = [] } }: { readonly task: Task }) {
  if (warnings.length === 0) return null;
  return (
    <section class="warnings" aria-labelledby="warnings-title">
      <h2 id="warnings-title">Warnings</h2>
      <ul>
        {warnings.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    </section>
  );
}

interface LineStateProps {
  readonly line: Line;
  readonly task: Task;
  readonly now: number;
}

function LineState({ line, task, now }: LineStateProps) {
  return (
    <span class={`line ${line.state.toLowerCase()}`} role="status">
      {lineWords(line.state, task, { display: timeDisplay.value, now })}
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

import { useState } from "preact/hooks";
import { durationWords } from "../../domain/duration";
import { PageOfReadinessSchedule } from "../../domain/readiness/readiness-spec";
import { Task } from "../../domain/spec/task";
import { openApi, usePolled } from "../client/ask-api";
import { useServerTime, useTitle } from "../client/page-hooks";
import { session } from "../client/session";
import { plural } from "../model/labels";
import { fragmentOf } from "../model/page-address";
import { precheckedResources } from "../model/precheck-runs";
import { readinessOf, wordsOfReadiness } from "../model/readiness";
import { ErrorNote } from "../parts/error-note";
import { Moment } from "../parts/moment";
import { AllChecks, FoundChecks } from "../parts/prechecks";
import { ReadinessSchedules } from "../parts/readiness-schedules";
import { RequestDialog } from "../parts/request-dialog";
import { StatusBadge } from "../parts/status-badge";

/** One readiness check, live: what it has found on which resource, and the schedule that it is of. */
export function ReadinessCheck({ id }: { readonly id: string }) {
  const [hasEnded, setEnded] = useState(false);
  const path = `/v1/tasks/${encodeURIComponent(id)}`;
  const { value: check, error, refresh } = usePolled(Task, path, hasEnded ? 60_000 : 1_000);
  const schedules = usePolled(PageOfReadinessSchedule, "/v1/prechecks/schedules", 5_000).value?.elements ?? [];
  const now = useServerTime(hasEnded ? 30_000 : 1_000);
  useTitle(check?.name);
  const ended = check !== undefined && check.isCancellable !== true;
  if (ended !== hasEnded) setEnded(ended);
  if (!check) return error ? <ErrorNote error={error} isAlert /> : <p role="status">Reading the readiness check…</p>;
  const { name, asOf, completionTimestamp } = check;
  const began = Date.parse(check.creationTimestamp);
  const words = wordsOfReadiness(check);
  return (
    <>
      <nav aria-label="Breadcrumb" class="breadcrumb">
        <ol>
          <li>
            <a href={fragmentOf({ page: "READINESS" })}>Readiness checks</a>
          </li>
          <li aria-current="page">{name}</li>
        </ol>
      </nav>
      <h1>{name}</h1>
      <p class="visually-hidden" role="status">
        {words.word}
      </p>
      <div class="headline">
        <StatusBadge words={words} />
        <span class="small">
          began <Moment at={began} now={now} />
          {completionTimestamp !== undefined && `, took ${durationWords(Date.parse(completionTimestamp) - began)}`}
        </span>
        {session.value?.mayOperate && <a href={fragmentOf({ page: "NEW_CHECK" })}>New check</a>}
      </div>
      {error && <ErrorNote error={error} isAlert />}
      {asOf !== undefined && (
        <p class="small">
          No worker is answering: this is the check as of <Moment at={Date.parse(asOf)} now={now} />.
        </p>
      )}
      {session.value?.mayOperate && check.isCancellable === true && <CancelButton check={check} onDone={refresh} />}
      {check.status !== "Cancelled" && check.errors?.map((one, i) => <ErrorNote key={i} error={one} />)}
      <Resources check={check} now={now} />
      <ReadinessSchedules title="Schedule" schedules={schedules.filter((one) => id.startsWith(one.id))} now={now} />
    </>
  );
}

/** What was found, resource by resource, what is not ready first. */
function Resources({ check, now }: { readonly check: Task; readonly now: number }) {
  const resources = readinessOf(precheckedResources(check), check.status);
  if (resources.length === 0) return null;
  return (
    <section aria-labelledby="resources-title">
      <h2 id="resources-title">{plural(resources.length, "resource")}</h2>
      <ul class="checks">
        {resources.map((resource, i) => (
          <li key={i}>
            <p class="run-line">
              <StatusBadge words={resource.words} />
              <span>
                <span class="name">{resource.name}</span> <span class="small">{resource.counts}</span>
              </span>
            </p>
            <FoundChecks resources={[resource]} now={now} isOfOne />
          </li>
        ))}
      </ul>
      <AllChecks title="All checks" resources={resources} isTruncated={false} />
    </section>
  );
}

function CancelButton({ check, onDone }: { readonly check: Task; readonly onDone: () => void }) {
  const [isAsked, setAsked] = useState(false);
  return (
    <div class="buttons">
      <button type="button" class="grave" onClick={() => setAsked(true)}>
        Cancel check
      </button>
      {isAsked && (
        <RequestDialog
          title="Cancel check"
          submit="Cancel check"
          isGrave
          send={async () => {
            await openApi({ method: "DELETE", path: `/v1/tasks/${encodeURIComponent(check.id)}` });
            onDone();
          }}
          close={() => setAsked(false)}
        >
          <p class="small">{check.name}</p>
          <p>What it has found so far stays readable. Its schedule, if it has one, continues.</p>
        </RequestDialog>
      )}
    </div>
  );
}

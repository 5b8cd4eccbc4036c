import { durationWords } from "../../domain/duration";
import { PageOfReadinessSchedule } from "../../domain/readiness/readiness-spec";
import { PageOfTask, type Task } from "../../domain/spec/task";
import { usePolled } from "../client/ask-api";
import { useReadTime, useTitle } from "../client/page-hooks";
import { session } from "../client/session";
import { plural } from "../model/labels";
import { fragmentOf } from "../model/page-address";
import { wordsOfReadiness } from "../model/readiness";
import { ErrorNote } from "../parts/error-note";
import { Moment } from "../parts/moment";
import { Pager } from "../parts/pager";
import { ReadinessSchedules } from "../parts/readiness-schedules";
import { StatusBadge } from "../parts/status-badge";

const pageSize = 25;
/** Milliseconds between two looks. */
const every = 3_000;

/** Readiness checks, the latest first, and the schedules by which they run. `number` counts pages from 1. */
export function ReadinessList({ number }: { readonly number: number }) {
  const checks = usePolled(PageOfTask, `/v1/prechecks?pageNumber=${number - 1}&pageSize=${pageSize}`, every);
  const schedules = usePolled(PageOfReadinessSchedule, "/v1/prechecks/schedules", every);
  const now = useReadTime(checks);
  useTitle("Readiness checks");
  const { elements = [], pageMetadata: { totalElements = 0, totalPages = 1 } = {} } = checks.value ?? {};
  return (
    <>
      <div class="headline">
        <h1>Readiness checks</h1>
        {session.value?.mayOperate && (
          <a class="button primary" href={fragmentOf({ page: "NEW_CHECK" })}>
            New check
          </a>
        )}
      </div>
      <p class="small">
        A readiness check runs the prechecks of an upgrade without starting one. It locks and changes nothing.
      </p>
      {[checks.error, schedules.error].map((error, i) => error && <ErrorNote key={i} error={error} isAlert />)}
      <ReadinessSchedules title="Schedules" schedules={schedules.value?.elements ?? []} now={now} />
      <h2>Checks</h2>
      <p class="small" role="status">
        {!checks.value
          ? checks.error
            ? ""
            : "Reading readiness checks…"
          : totalElements === 0
            ? "No readiness check has run yet."
            : plural(totalElements, "check")}
      </p>
      {elements.length > 0 && <CheckTable checks={elements} now={now} />}
      <Pager to={(other) => fragmentOf({ page: "READINESS", number: other })} page={number} totalPages={totalPages} />
    </>
  );
}

/** A row for each check; on a phone each row is a card, as in the table of upgrades. */
function CheckTable({ checks, now }: { readonly checks: readonly Task[]; readonly now: number }) {
  return (
    <table class="upgrades" role="table" aria-label="Readiness checks">
      <thead role="rowgroup">
        <tr role="row">
          {["Status", "Check", "Resources", "Began", "Took"].map((column) => (
            <th key={column} role="columnheader" scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {checks.map((check) => {
          const { id, name, resources, creationTimestamp, completionTimestamp } = check;
          const began = Date.parse(creationTimestamp);
          return (
            <tr key={id} role="row">
              <td role="cell">
                <StatusBadge words={wordsOfReadiness(check)} />
              </td>
              <th role="rowheader" scope="row">
                <a href={fragmentOf({ page: "CHECK", id })}>{name}</a>
              </th>
              <td role="cell" data-column="Resources">
                {resources?.length}
              </td>
              <td role="cell" data-column="Began">
                <Moment at={began} now={now} />
              </td>
              <td role="cell" data-column="Took">
                {completionTimestamp !== undefined && durationWords(Date.parse(completionTimestamp) - began)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

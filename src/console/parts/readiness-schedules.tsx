import { useState } from "preact/hooks";
import type { ReadinessSchedule } from "../../domain/readiness/readiness-spec";
import { openApi } from "../client/ask-api";
import { session } from "../client/session";
import { fragmentOf } from "../model/page-address";
import { scheduleWords } from "../model/readiness-form";
import { Moment } from "./moment";
import { RequestDialog } from "./request-dialog";

interface ReadinessSchedulesProps {
  readonly title: string;
  readonly schedules: readonly ReadinessSchedule[];
  /** By the clock of the service, in epoch milliseconds. */
  readonly now: number;
}

/** The schedules by which readiness is checked, and a button for each that ends it; nothing where there are none. */
export function ReadinessSchedules({ title, schedules, now }: ReadinessSchedulesProps) {
  const [asked, setAsked] = useState<ReadinessSchedule>();
  // The list of the service follows a second or two later.
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const shown = schedules.filter(({ id }) => !deleted.includes(id));
  const mayOperate = session.value?.mayOperate === true;
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="schedules-title">
      <h2 id="schedules-title">{title}</h2>
      <ul class="schedules">
        {shown.map((schedule) => {
          const { id, name, nextRun, createdBy, taskIds: [latest = id] = [] } = schedule;
          const times = scheduleWords(schedule.schedule);
          return (
            <li key={id} class="card">
              <p>
                <strong>{times}</strong>
              </p>
              <p>{name}</p>
              <p class="small">
                {nextRun !== undefined && (
                  <>
                    Next: <Moment at={Date.parse(nextRun)} now={now} />.{" "}
                  </>
                )}
                {createdBy !== undefined && `Created by ${createdBy}. `}
                <a href={fragmentOf({ page: "CHECK", id: latest })}>Latest check</a>
              </p>
              {mayOperate && (
                <button
                  type="button"
                  aria-label={`Delete schedule: ${name}, ${times}`}
                  onClick={() => setAsked(schedule)}
                >
                  Delete schedule
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {asked && (
        <RequestDialog
          title="Delete schedule"
          submit="Delete schedule"
          isGrave
          send={async () => {
            await openApi({ method: "DELETE", path: `/v1/prechecks/schedules/${encodeURIComponent(asked.id)}` });
            setDeleted((before) => [...before, asked.id]);
          }}
          close={() => setAsked(undefined)}
        >
          <p class="small">
            {asked.name}: {scheduleWords(asked.schedule)}
          </p>
          <p>No further checks start. Earlier checks stay readable, and a check that is running continues.</p>
        </RequestDialog>
      )}
    </section>
  );
}

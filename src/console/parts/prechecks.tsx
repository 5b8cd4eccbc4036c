import { useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { plural, wordsOfPart } from "../model/labels";
import { type PrecheckRun, precheckRunsOf } from "../model/precheck-runs";
import { ErrorNote } from "./error-note";
import { Moment } from "./moment";
import { StatusBadge } from "./status-badge";

interface PrechecksProps {
  readonly task: Task;
  readonly now: number;
}

/** The prechecks of an upgrade: what of the latest run failed, and every check of every run on demand. */
export function Prechecks({ task, now }: PrechecksProps) {
  const [latest, ...earlier] = precheckRunsOf(task);
  if (!latest) return null;
  return (
    <section aria-labelledby="prechecks-title">
      <h2 id="prechecks-title">Prechecks</h2>
      <RunLine run={latest} now={now} />
      <FailedChecks run={latest} />
      <AllChecks run={latest} />
      {earlier.map((run) => (
        <div key={run.name}>
          <RunLine run={run} now={now} />
          <AllChecks run={run} tellsErrors />
        </div>
      ))}
    </section>
  );
}

function RunLine({ run, now }: { readonly run: PrecheckRun; readonly now: number }) {
  const { name, status, passed, failed, end } = run;
  return (
    <p class="run-line">
      <StatusBadge words={wordsOfPart(status)} />
      <span>
        {name}
        {passed + failed > 0 && `: ${plural(passed, "check")} passed, ${failed} failed`}
        {end !== undefined && (
          <>
            , ended <Moment at={end} now={now} />
          </>
        )}
      </span>
    </p>
  );
}

/** What stands in the way of the upgrade, resource by resource. */
function FailedChecks({ run }: { readonly run: PrecheckRun }) {
  const failed = run.resources.flatMap(({ name, checks }) =>
    checks.filter(({ status }) => status === "FAILED").map((check) => ({ resource: name, ...check })),
  );
  if (failed.length === 0) return null;
  return (
    <ul class="checks">
      {failed.map(({ resource, name, errors, description }, i) => (
        <li key={i}>
          <span class="name">
            {resource}: {name}
          </span>
          {errors.length === 0 && <span class="small">{description}</span>}
          {errors.map((error, n) => (
            <ErrorNote key={n} error={error} />
          ))}
        </li>
      ))}
    </ul>
  );
}

interface AllChecksProps {
  readonly run: PrecheckRun;
  /** Of an earlier run, whose errors nothing else shows. */
  readonly tellsErrors?: boolean;
}

/** Every check with its status; in the page only while it is open. */
function AllChecks({ run: { name, resources, isTruncated }, tellsErrors = false }: AllChecksProps) {
  const [isOpen, setOpen] = useState(false);
  if (resources.every(({ checks }) => checks.length === 0)) return null;
  return (
    <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{name}: all checks</summary>
      {isOpen && (
        <ul class="checks">
          {resources.map((resource) => (
            <li key={resource.name}>
              <span class="name">{resource.name}</span>
              <ul>
                {resource.checks.map((check, i) => (
                  <li key={i}>
                    <StatusBadge words={wordsOfPart(check.status)} /> {check.name}
                    {check.description !== check.name && <span class="small"> {check.description}</span>}
                    {tellsErrors && check.errors.map((error, n) => <ErrorNote key={n} error={error} />)}
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      {isOpen && isTruncated && <p class="small">Some resources of this early run were dropped.</p>}
    </details>
  );
}

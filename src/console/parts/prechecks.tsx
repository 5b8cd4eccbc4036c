import { useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { plural, wordsOfPart } from "../model/labels";
import { hasFound, type PrecheckedResource, type PrecheckRun, precheckRunsOf } from "../model/precheck-runs";
import { ErrorNote } from "./error-note";
import { type Acknowledge, Findings } from "./findings";
import { Moment } from "./moment";
import { StatusBadge } from "./status-badge";

interface PrechecksProps {
  readonly task: Task;
  readonly now: number;
  /** Undefined where this caller cannot acknowledge findings of this upgrade. */
  readonly acknowledge?: ((precheckId: string) => Acknowledge) | undefined;
}

/** The prechecks of an upgrade: what the latest run found, and every check of every run on demand. */
export function Prechecks({ task, now, acknowledge }: PrechecksProps) {
  const [latest, ...earlier] = precheckRunsOf(task);
  if (!latest) return null;
  return (
    <section aria-labelledby="prechecks-title">
      <h2 id="prechecks-title">Prechecks</h2>
      <RunLine run={latest} now={now} />
      <FoundChecks resources={latest.resources} now={now} acknowledge={acknowledge?.(latest.id)} />
      <AllChecks title={`${latest.name}: all checks`} {...latest} />
      {earlier.map((run) => (
        <div key={run.name}>
          <RunLine run={run} now={now} />
          <AllChecks title={`${run.name}: all checks`} {...run} tellsErrors />
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

interface FoundChecksProps {
  readonly resources: readonly PrecheckedResource[];
  readonly now: number;
  readonly acknowledge?: Acknowledge;
  /** Where the resource is named around it. */
  readonly isOfOne?: boolean;
}

/** What stands in the way of the upgrade or is to be known, resource by resource. */
export function FoundChecks({ resources, now, acknowledge, isOfOne = false }: FoundChecksProps) {
  const found = resources.flatMap(({ name, checks }) =>
    checks.filter(hasFound).map((check) => ({ resource: name, ...check })),
  );
  if (found.length === 0) return null;
  return (
    <ul class="checks">
      {found.map(({ resource, name, errors, findings, description }, i) => (
        <li key={i}>
          <span class="name">{isOfOne ? name : `${resource}: ${name}`}</span>
          {errors.length + findings.length === 0 && <span class="small">{description}</span>}
          {findings.length > 0 ? (
            <Findings findings={findings} now={now} acknowledge={acknowledge} />
          ) : (
            errors.map((error, n) => <ErrorNote key={n} error={error} />)
          )}
        </li>
      ))}
    </ul>
  );
}

interface AllChecksProps extends Pick<PrecheckRun, "resources" | "isTruncated"> {
  readonly title: string;
  /** Of an earlier run, whose errors nothing else shows. */
  readonly tellsErrors?: boolean;
}

/** Every check with its status; in the page only while it is open. */
export function AllChecks({ title, resources, isTruncated, tellsErrors = false }: AllChecksProps) {
  const [isOpen, setOpen] = useState(false);
  if (resources.every(({ checks }) => checks.length === 0)) return null;
  return (
    <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{title}</summary>
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

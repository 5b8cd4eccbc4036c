import type { Task } from "../../domain/spec/task";
import type { Upgrade } from "../../domain/spec/upgrade";
import { askedOptions } from "../model/asked-options";
import { type FactPart, headerFacts } from "../model/header-facts";
import { exactTime } from "../model/local-time";
import { HostBar } from "./host-bar";
import { Moment } from "./moment";

interface UpgradeFactsProps {
  readonly upgrade: Upgrade | undefined;
  readonly task: Task;
  readonly now: number;
}

/** What is known of an upgrade as a whole: its hosts, who did what when, how long it takes and what it was asked for. */
export function UpgradeFacts({ upgrade, task, now }: UpgradeFactsProps) {
  const facts = upgrade ? headerFacts(upgrade, task, now) : [];
  const asked = upgrade ? askedOptions(upgrade, task) : [];
  return (
    <section class="card upgrade-facts" aria-label="Facts of the upgrade">
      <HostBar task={task} />
      <dl class="facts">
        {facts.map(({ term, parts }) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>
              {parts.map((part, i) => (
                <FactWords key={i} part={part} now={now} />
              ))}
            </dd>
          </div>
        ))}
        <div>
          <dt>Id</dt>
          <dd>
            <code>{task.id}</code>
          </dd>
        </div>
      </dl>
      {asked.length > 0 && (
        <details>
          <summary>Requested options</summary>
          <ul>
            {asked.map(({ of, options }) => (
              <li key={of}>
                {of}
                <ul class="small">
                  {options.map((option) => (
                    <li key={option}>{option}</li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function FactWords({ part, now }: { readonly part: FactPart; readonly now: number }) {
  if (typeof part === "string") return <>{part}</>;
  if (!part.isExact) return <Moment at={part.at} now={now} />;
  return <time dateTime={new Date(part.at).toISOString()}>{exactTime(part.at)}</time>;
}

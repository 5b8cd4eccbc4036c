import { useEffect, useRef, useState } from "preact/hooks";
import type { Bundle } from "../../domain/spec/bundle";
import type { Cluster } from "../../domain/spec/cluster";
import { LabelText } from "../../domain/spec/change-record";
import type { UpgradeSort } from "../../domain/upgrade/attention";
import { type ListView, optionalColumns } from "../model/page-address";
import { columnWords } from "./upgrade-table";

/** How long after the last key a search begins, in milliseconds. */
const typingPause = 300;

const sortWords: readonly (readonly [UpgradeSort, string])[] = [
  ["attention", "What needs attention"],
  ["created", "Newest"],
  ["begins", "Next to start"],
  ["ended", "Last ended"],
  ["name", "Name"],
];

interface ListFiltersProps {
  readonly view: ListView;
  readonly bundles: readonly Bundle[];
  readonly clusters: readonly Pick<Cluster, "id" | "name">[];
  readonly change: (changed: Omit<ListView, "page">) => void;
}

/** What of the list is shown, in which order, with which columns. */
export function ListFilters({ view, bundles, clusters, change }: ListFiltersProps) {
  const { without = [] } = view;
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <TypedFilter
        label="Search"
        longest={100}
        placeholder="Name, cluster, creator, change or id"
        value={view.search ?? ""}
        onChange={(search) => change({ search })}
      />
      <Choice
        label="Bundle"
        value={view.bundleId ?? ""}
        onChange={(bundleId) => change({ bundleId })}
        options={bundles.map(({ id, version, description }) => [id, description ?? version ?? id])}
      />
      <Choice
        label="Cluster"
        value={view.resourceId ?? ""}
        onChange={(resourceId) => change({ resourceId })}
        options={clusters.map(({ id, name }) => [id, name])}
      />
      <TypedFilter
        label="Label"
        longest={1000}
        placeholder="team=blue"
        value={view.label ?? ""}
        isValid={(text) => text.split(",").every((one) => LabelText.is(one.trim()))}
        onChange={(label) => change({ label: label.replace(/\s*,\s*/g, ",") })}
      />
      {view.changeId !== undefined && (
        <TypedFilter label="Change" longest={64} value={view.changeId} onChange={(changeId) => change({ changeId })} />
      )}
      <label class="field">
        Order
        <select
          value={view.sort ?? "attention"}
          onChange={({ currentTarget }) => {
            const sort = sortWords.find(([value]) => value === currentTarget.value)?.[0];
            if (sort) change({ sort });
          }}
        >
          {sortWords.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <details class="columns">
        <summary>Columns</summary>
        {optionalColumns.map((column) => (
          <label key={column} class="check">
            <input
              type="checkbox"
              checked={!without.includes(column)}
              onChange={({ currentTarget }) =>
                change({
                  without: optionalColumns.filter((one) =>
                    one === column ? !currentTarget.checked : without.includes(one),
                  ),
                })
              }
            />
            {columnWords[column]}
          </label>
        ))}
      </details>
    </form>
  );
}

interface TypedFilterProps {
  readonly label: string;
  readonly longest: number;
  readonly placeholder?: string;
  readonly value: string;
  /** Whether the list can be asked for it; until then the field is marked. */
  readonly isValid?: (text: string) => boolean;
  readonly onChange: (value: string) => void;
}

/** A filter that is typed; it takes effect when the typing pauses. */
function TypedFilter({ label, longest, placeholder, value, isValid = () => true, onChange }: TypedFilterProps) {
  const [typed, setTyped] = useState(value);
  const last = useRef(value);
  const isComplete = typed.trim() === "" || isValid(typed.trim());
  useEffect(() => {
    // The address has changed otherwise than by this field.
    if (value !== last.current) setTyped(value);
    last.current = value;
  }, [value]);
  useEffect(() => {
    if (typed.trim() === last.current || !isComplete) return undefined;
    const timer = setTimeout(() => {
      last.current = typed.trim();
      onChange(typed.trim());
    }, typingPause);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label class="field">
      {label}
      <input
        type="search"
        maxLength={longest}
        value={typed}
        aria-invalid={!isComplete}
        {...(placeholder !== undefined && { placeholder })}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  // The address may name what the catalog or the inventory does not list any more.
  const isListed = value === "" || options.some(([option]) => option === value);
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All</option>
        {!isListed && <option value={value}>{value}</option>}
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

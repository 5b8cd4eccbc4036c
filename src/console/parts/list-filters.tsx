import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Bundle } from "../../domain/spec/bundle";
import type { Cluster } from "../../domain/spec/cluster";
import { LabelText } from "../../domain/spec/change-record";
import type { PublishedPhase } from "../../domain/spec/upgrade";
import type { UpgradeSort } from "../../domain/upgrade/attention";
import { phaseWords } from "../../domain/upgrade/phase-words";
import { ageWords, type FilterChip, filterChips } from "../model/list-filters";
import { type Age, ages, type ListView, optionalColumns, phasesOfTab, type ViewChange } from "../model/page-address";
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
  /** Who is worth proposing as a creator. */
  readonly creators: readonly string[];
  readonly change: (changed: ViewChange) => void;
}

/** What of the list is shown, in which order, with which columns. What is on stands below, each to be taken away. */
export function ListFilters({ view, bundles, clusters, creators, change }: ListFiltersProps) {
  const { without = [], tab = "ALL" } = view;
  const bundleName = ({ id, version, description }: Bundle) => description ?? version ?? id;
  const chips = filterChips(view, {
    bundle: (id) => bundles.filter((one) => one.id === id).map(bundleName)[0] ?? id,
    cluster: (id) => clusters.find((one) => one.id === id)?.name ?? id,
  });
  const phases = phasesOfTab(tab) ?? (Object.keys(phaseWords) as PublishedPhase[]);
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <TypedFilter
          label="Search"
          longest={100}
          placeholder="Name, cluster, creator, change or id"
          value={view.search ?? ""}
          onChange={(search) => change({ search })}
        />
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
        <details class="columns more-filters">
          <summary>Filters{chips.length > 0 && ` (${chips.length})`}</summary>
          <div class="filters">
            <Choice
              label="Bundle"
              value={view.bundleId ?? ""}
              onChange={(bundleId) => change({ bundleId })}
              options={bundles.map((bundle) => [bundle.id, bundleName(bundle)])}
            />
            <Choice
              label="Cluster"
              value={view.resourceId ?? ""}
              onChange={(resourceId) => change({ resourceId })}
              options={clusters.map(({ id, name }) => [id, name])}
            />
            <Choice
              label="Status"
              value={view.phase ?? ""}
              onChange={(phase) => change({ phase: phase as PublishedPhase | "" })}
              options={phases.map((phase) => [phase, phaseWords[phase]])}
            />
            <TypedFilter
              label="Created by"
              longest={255}
              placeholder="Anybody"
              proposed={creators}
              value={view.createdBy ?? ""}
              onChange={(createdBy) => change({ createdBy })}
            />
            <TypedFilter
              label="Label"
              longest={1000}
              placeholder="team=blue"
              value={view.label ?? ""}
              isValid={(text) => text.split(",").every((one) => LabelText.is(one.trim()))}
              onChange={(label) => change({ label: label.replace(/\s*,\s*/g, ",") })}
            />
            <TypedFilter
              label="Change"
              longest={64}
              placeholder="CHG001"
              value={view.changeId ?? ""}
              onChange={(changeId) => change({ changeId })}
            />
            <Choice
              label="Created in"
              all="Any time"
              value={view.created ?? ""}
              onChange={(created) => change({ created: created as Age | "" })}
              options={ages.map((age) => [age, ageWords[age].words])}
            />
          </div>
        </details>
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
      <Chips chips={chips} remove={(names) => change(Object.fromEntries(names.map((name) => [name, ""])))} />
    </>
  );
}

interface ChipsProps {
  readonly chips: readonly FilterChip[];
  readonly remove: (names: readonly FilterChip["name"][]) => void;
}

/** The filters that are on. The button that was pressed is gone afterwards, so the list of them takes the focus. */
function Chips({ chips, remove }: ChipsProps) {
  const list = useRef<HTMLUListElement>(null);
  const removeNow = (names: readonly FilterChip["name"][]) => {
    remove(names);
    list.current?.focus();
  };
  return (
    <ul class="chips" aria-label="Filters that are on" tabIndex={-1} ref={list}>
      {chips.map(({ name, words }) => (
        <li key={name}>
          <button type="button" class="chip" onClick={() => removeNow([name])}>
            {words} <span class="visually-hidden">(remove)</span> <span aria-hidden="true">✕</span>
          </button>
        </li>
      ))}
      {chips.length > 1 && (
        <li>
          <button type="button" class="link" onClick={() => removeNow(chips.map(({ name }) => name))}>
            Remove all
          </button>
        </li>
      )}
    </ul>
  );
}

interface TypedFilterProps {
  readonly label: string;
  readonly longest: number;
  readonly placeholder?: string;
  readonly value: string;
  /** What can be chosen instead of typed. */
  readonly proposed?: readonly string[];
  /** Whether the list can be asked for it; until then the field is marked. */
  readonly isValid?: (text: string) => boolean;
  readonly onChange: (value: string) => void;
}

/** A filter that is typed; it takes effect when the typing pauses. */
function TypedFilter(props: TypedFilterProps) {
  const { label, longest, placeholder, proposed, value, isValid = () => true, onChange } = props;
  const proposals = useId();
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
        {...(proposed && { list: proposals, autocomplete: "off" })}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      {proposed && (
        <datalist id={proposals}>
          {proposed.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </label>
  );
}

interface ChoiceProps {
  readonly label: string;
  /** What no choice is called. */
  readonly all?: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, all = "All", value, options, onChange }: ChoiceProps) {
  // The address may name what the catalog or the inventory does not list any more.
  const isListed = value === "" || options.some(([option]) => option === value);
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{all}</option>
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

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import type { ProductVersions } from "../../domain/spec/upgrade";
import {
  countGroups,
  firstHostView,
  type HostColumn,
  type HostGroup,
  hostGroups,
  type HostRow,
  hostRows,
  tookOf,
  viewHosts,
} from "../model/host-rows";
import { durationWords } from "../../domain/duration";
import { Moment } from "./moment";
import { StatusBadge } from "./status-badge";
import { useVirtualRows } from "./virtual-rows";

const columns: readonly (readonly [HostColumn, string])[] = [
  ["status", "Status"],
  ["host", "Host"],
  ["cluster", "Cluster"],
  ["step", "Step"],
  ["percent", "Done"],
  ["began", "Began"],
  ["took", "Took"],
  ["attempt", "Attempt"],
  ["version", "Version"],
];

const groupWords: Readonly<Record<HostGroup, string>> = {
  FAILED: "Failed",
  RUNNING: "Running",
  WAITING: "Waiting",
  DONE: "Done",
  LEFT_OUT: "Not needed or not started",
};

/** The height of the row of column names, in pixels, which covers rows while they are scrolled. */
const headHeight = 44;

interface HostTableProps {
  readonly task: Task;
  readonly versions: readonly ProductVersions[] | undefined;
  readonly now: number;
  /** Shows the row of a host in the tree of steps. */
  readonly goTo: (key: string) => void;
}

/**
 * Every host of an upgrade in a table that can be searched, filtered and sorted. Only rows that show are in the page. Arrow
 * keys move in it, and Enter shows the steps of a host; Tab does not stop at each of thousands.
 */
export function HostTable({ task, versions, now, goTo }: HostTableProps) {
  const container = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(firstHostView);
  const [activeKey, setActiveKey] = useState<string>();
  const [follows, setFollows] = useState(false);
  const all = useMemo(() => hostRows(task, versions), [task, versions]);
  const counts = useMemo(() => countGroups(all), [all]);
  // Thousands of rows need no new order every second.
  const sortedAt = view.sort.column === "took" ? now - (now % 10_000) : 0;
  const rows = useMemo(() => viewHosts(all, view, sortedAt), [all, view, sortedAt]);
  const virtualizer = useVirtualRows({
    count: rows.length,
    keyOf: (index) => rows[index]?.key ?? String(index),
    container: () => container.current,
    covered: headHeight,
  });
  const firstRunning = rows.findIndex(({ group }) => group === "RUNNING");
  useEffect(() => {
    if (follows && firstRunning !== -1) virtualizer.scrollToIndex(firstRunning, { align: "start" });
  }, [virtualizer, follows, firstRunning]);
  if (all.length === 0) return null;
  const activate = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    setActiveKey(row.key);
    virtualizer.scrollToIndex(rows.indexOf(row), { align: "auto" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys on the names of columns are for these.
    if (event.target !== container.current) return;
    const index = rows.findIndex(({ key }) => key === activeKey);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => activate(index + 1),
      ArrowUp: () => activate(index - 1),
      Home: () => activate(0),
      End: () => activate(rows.length - 1),
      PageDown: () => activate(index + 10),
      PageUp: () => activate(index - 10),
      Enter: () => activeKey !== undefined && index !== -1 && goTo(activeKey),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const shown = virtualizer.getVirtualItems();
  const isActiveShown = shown.some(({ key }) => key === activeKey);
  const sortBy = (column: HostColumn) =>
    setView(({ sort, ...rest }) => ({
      ...rest,
      sort: { column, isDescending: sort.column === column && !sort.isDescending },
    }));
  return (
    <section aria-labelledby="hosts-title">
      <h2 id="hosts-title">Hosts</h2>
      <div class="host-filters">
        <label class="field">
          Search hosts
          <input
            type="search"
            value={view.search}
            placeholder="Host, cluster, step or version"
            onInput={({ currentTarget: { value } }) => setView((before) => ({ ...before, search: value }))}
          />
        </label>
        <label class="field">
          Status of hosts
          <select
            value={view.group}
            onChange={({ currentTarget: { value } }) =>
              setView((before) => ({ ...before, group: value as HostGroup | "ALL" }))
            }
          >
            <option value="ALL">All ({all.length})</option>
            {hostGroups.map((group) => (
              <option key={group} value={group}>
                {groupWords[group]} ({counts[group]})
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={follows} onChange={({ currentTarget: { checked } }) => setFollows(checked)} />
          Follow running hosts
        </label>
        <span class="small" role="status">
          {rows.length === all.length ? "" : `${rows.length} of ${all.length} hosts`}
        </span>
      </div>
      <div
        class="host-scroll"
        role="grid"
        aria-labelledby="hosts-title"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        ref={container}
        onKeyDown={onKeyDown}
        {...(isActiveShown && activeKey !== undefined && { "aria-activedescendant": rowId(activeKey) })}
      >
        <div role="rowgroup" class="host-head">
          <div role="row" aria-rowindex={1} class="host-row">
            {columns.map(([column, label]) => (
              <div
                key={column}
                role="columnheader"
                class={`host-${column}`}
                aria-sort={view.sort.column !== column ? "none" : view.sort.isDescending ? "descending" : "ascending"}
              >
                <button type="button" onClick={() => sortBy(column)}>
                  {label}
                  <span aria-hidden="true">
                    {view.sort.column === column ? (view.sort.isDescending ? " ▾" : " ▴") : ""}
                  </span>
                </button>
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" class="host-all" style={{ height: `${virtualizer.getTotalSize()}px` }}>
          {shown.map(({ index, key, start }) => {
            const row = rows[index];
            return (
              row && (
                <div
                  key={key}
                  id={rowId(row.key)}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={row.key === activeKey}
                  data-index={index}
                  class={`host-row ${row.key === activeKey ? "active" : ""}`}
                  onClick={() => setActiveKey(row.key)}
                  ref={(element) => virtualizer.measureElement(element)}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <HostCells row={row} now={now} goTo={goTo} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </section>
  );
}

/** Keys are JSON Pointers; ids that others refer to hold no slash. */
function rowId(key: string): string {
  return `host${key.replaceAll("/", "-")}`;
}

interface HostCellsProps {
  readonly row: HostRow;
  readonly now: number;
  readonly goTo: (key: string) => void;
}

function HostCells({ row, now, goTo }: HostCellsProps) {
  const { key, host, cluster, status, step, percent, began, attempt, maximumAttempts, version = "" } = row;
  const took = tookOf(row, now);
  const cells: Readonly<Record<HostColumn, preact.ComponentChildren>> = {
    status: <StatusBadge words={status} />,
    host: (
      <button type="button" class="link" title="Show its steps" tabIndex={-1} onClick={() => goTo(key)}>
        {host}
      </button>
    ),
    cluster,
    step,
    percent: percent === undefined ? "" : `${percent} %`,
    began: began === undefined ? "" : <Moment at={began} now={now} />,
    took: took === undefined ? "" : durationWords(took),
    attempt: attempt === undefined ? "" : `${attempt}${maximumAttempts === undefined ? "" : ` of ${maximumAttempts}`}`,
    version,
  };
  return (
    <>
      {columns.map(([column, label]) => (
        <div key={column} role="gridcell" class={`host-${column}`} data-label={label}>
          {cells[column]}
        </div>
      ))}
    </>
  );
}

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Task } from "../../domain/spec/task";
import { checksType } from "../../domain/task/own-checks";
import { hostProgressOf } from "../model/host-progress";
import { wordsOfPart } from "../model/labels";
import { wordsOfCheck } from "../model/own-checks";
import {
  anyFailed,
  type Choices,
  firstOfInterest,
  parentKey,
  parentKeys,
  type RowFilter,
  type TaskRow,
  taskRows,
} from "../model/task-rows";
import { ErrorNote } from "./error-note";
import { StatusBadge } from "./status-badge";
import { useVirtualRows } from "./virtual-rows";

/** A row that somebody has asked for from elsewhere on the page; another object each time. */
export interface TreeTarget {
  readonly key: string;
}

interface TaskPartsProps {
  readonly task: Task;
  readonly target: TreeTarget | undefined;
}

/** The steps of a Task by product, cluster and host, or only those that failed. */
export function TaskParts({ task, target }: TaskPartsProps) {
  const [failedOnly, setFailedOnly] = useState(false);
  useLayoutEffect(() => setFailedOnly(false), [target]);
  return (
    <section aria-labelledby="parts-title">
      <div class="headline">
        <h2 id="parts-title">Steps</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={failedOnly}
            onChange={({ currentTarget: { checked } }) => setFailedOnly(checked)}
          />
          Failed only
        </label>
      </div>
      {failedOnly && !anyFailed(task) ? (
        <p class="small" role="status">
          Nothing has failed.
        </p>
      ) : (
        <TaskTree task={task} filter={failedOnly ? "FAILED" : "ALL"} target={target} />
      )}
    </section>
  );
}

/** The parts of a Task as a tree that opens at what runs or has failed. Arrow keys move in it, as in any tree. */
function TaskTree({ task, filter, target }: TaskPartsProps & { readonly filter: RowFilter }) {
  const container = useRef<HTMLDivElement>(null);
  const [choices, setChoices] = useState<Choices>(new Map());
  const [activeKey, setActiveKey] = useState<string>();
  const rows = useMemo(() => taskRows(task, choices, filter), [task, choices, filter]);
  const virtualizer = useVirtualRows({
    count: rows.length,
    keyOf: (index) => rows[index]?.key ?? String(index),
    container: () => container.current,
  });
  useLayoutEffect(() => {
    // Once for each filter: afterwards people scroll themselves.
    const index = firstOfInterest(rows);
    if (index > 0) virtualizer.scrollToIndex(index, { align: "center" });
  }, [virtualizer, filter]);
  const sought = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (!target) return;
    const toOpen = [target.key, ...parentKeys(target.key)].map((key) => [key, true] as const);
    setChoices((before) => new Map([...before, ...toOpen]));
    setActiveKey(target.key);
    sought.current = target.key;
  }, [target]);
  useLayoutEffect(() => {
    const index = sought.current === undefined ? -1 : rows.findIndex(({ key }) => key === sought.current);
    if (index === -1) return;
    sought.current = undefined;
    container.current?.focus();
    container.current?.scrollIntoView({ block: "nearest" });
    virtualizer.scrollToIndex(index, { align: "start" });
  }, [virtualizer, rows, target]);
  const open = (key: string, isOpen: boolean) => setChoices((before) => new Map(before).set(key, isOpen));
  const activate = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (!row) return;
    setActiveKey(row.key);
    virtualizer.scrollToIndex(rows.indexOf(row), { align: "auto" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const found = rows.findIndex(({ key }) => key === activeKey);
    const index = found === -1 ? 0 : found;
    const row = rows[index];
    if (!row) return;
    const isPart = row.kind === "PART";
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => activate(found === -1 ? 0 : index + 1),
      ArrowUp: () => activate(index - 1),
      Home: () => activate(0),
      End: () => activate(rows.length - 1),
      PageDown: () => activate(index + 10),
      PageUp: () => activate(index - 10),
      ArrowRight: () => (isPart && row.hasInside && !row.isOpen ? open(row.key, true) : activate(index + 1)),
      ArrowLeft: () => {
        if (isPart && row.isOpen) return open(row.key, false);
        const parent = parentKey(row.key);
        const above = rows.findIndex(({ key }) => key === parent);
        if (above !== -1) activate(above);
      },
      Enter: () => isPart && row.hasInside && open(row.key, !row.isOpen),
      " ": () => isPart && row.hasInside && open(row.key, !row.isOpen),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  const shown = virtualizer.getVirtualItems();
  const isActiveShown = shown.some(({ key }) => key === activeKey);
  return (
    <div
      class="tree"
      role="tree"
      aria-label="Progress by product, cluster, host and stage"
      tabIndex={0}
      ref={container}
      onKeyDown={onKeyDown}
      {...(isActiveShown && activeKey !== undefined && { "aria-activedescendant": rowId(activeKey) })}
    >
      <div role="presentation" class="tree-all" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {shown.map(({ index, key, start }) => {
          const row = rows[index];
          return (
            row && (
              <div
                key={key}
                id={rowId(row.key)}
                role="treeitem"
                aria-level={row.level}
                aria-posinset={row.position}
                aria-setsize={row.setSize}
                aria-selected={row.key === activeKey}
                {...(row.kind === "PART" && row.hasInside && { "aria-expanded": row.isOpen })}
                data-index={index}
                ref={(element) => virtualizer.measureElement(element)}
                class={`tree-row level-${row.level} ${row.key === activeKey ? "active" : ""}`}
                style={{ transform: `translateY(${start}px)` }}
                onClick={() => {
                  setActiveKey(row.key);
                  if (row.kind === "PART" && row.hasInside) open(row.key, !row.isOpen);
                }}
              >
                <RowContent row={row} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** Keys are JSON Pointers; ids that others refer to hold no slash. */
function rowId(key: string): string {
  return `row${key.replaceAll("/", "-")}`;
}

function RowContent({ row }: { readonly row: TaskRow }) {
  if (row.kind === "ERROR") return <ErrorNote error={row.error} isInTree />;
  const { name, status, description, errors = [] } = row.kind === "PART" ? row.part : row.stage;
  const reason = row.kind === "PART" ? row.part.reasonCode : undefined;
  // The error of an own check has what it said; the row after this one shows it.
  const isOwnCheck = row.kind === "PART" ? row.part.type === checksType : row.isOwnCheck;
  const isTold = errors.some(({ message }) => isOwnCheck || message === description);
  const hosts = row.kind === "PART" ? hostProgressOf(row.part) : undefined;
  return (
    <>
      <span class="twist" aria-hidden="true">
        {row.kind === "PART" && row.hasInside ? (row.isOpen ? "▾" : "▸") : ""}
      </span>
      <div class="row-words">
        <StatusBadge words={isOwnCheck ? wordsOfCheck(status) : wordsOfPart(status, reason)} />
        <span class="row-name">{name}</span>
        {hosts && hosts.total > 0 && (
          <span class="small">
            {hosts.done} of {hosts.total} hosts{hosts.failed > 0 && `, ${hosts.failed} failed`}
          </span>
        )}
        {description !== name && !isTold && <span class="row-description small">{description}</span>}
      </div>
    </>
  );
}

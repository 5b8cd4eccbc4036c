import type { ComponentChildren } from "preact";
import { labelTexts } from "../../domain/spec/change-record";
import type { Upgrade } from "../../domain/spec/upgrade";
import { wordsOfPublishedPhase } from "../model/labels";
import { fragmentOf, type OptionalColumn } from "../model/page-address";
import { beginOf, resourceNames, type RowTime, timeOf } from "../model/upgrade-row";
import { CopyButton } from "./copy-button";
import { Moment } from "./moment";
import { RowHosts } from "./row-hosts";
import { StatusBadge } from "./status-badge";

export const columnWords: Readonly<Record<OptionalColumn, string>> = {
  CLUSTERS: "Resources",
  HOSTS: "Hosts done",
  BEGIN: "Begin",
  TIME: "Time",
  CREATOR: "Created by",
  ID: "Id",
};

/** `now` in epoch milliseconds of the service's clock. */
type CellOf = (upgrade: Upgrade, now: number) => ComponentChildren;

const cells: Readonly<Record<OptionalColumn, CellOf>> = {
  CLUSTERS: resourceNames,
  HOSTS: ({ hosts }) => (hosts && hosts.total > 0 ? <RowHosts hosts={hosts} /> : ""),
  BEGIN: (upgrade, now) => <TimeCell time={beginOf(upgrade)} now={now} />,
  TIME: (upgrade, now) => <TimeCell time={timeOf(upgrade, now)} now={now} />,
  CREATOR: ({ createdBy = "" }) => createdBy,
  ID: ({ id }) => (
    <span class="id">
      <code title={id}>{id.slice(0, 8)}</code>
      <CopyButton text={id} what={`id ${id}`} />
    </span>
  ),
};

interface UpgradeTableProps {
  readonly upgrades: readonly Upgrade[];
  readonly columns: readonly OptionalColumn[];
  readonly now: number;
  /** Ids; undefined where the one who looks may choose none. */
  readonly chosen: ReadonlySet<string> | undefined;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
}

/**
 * Upgrades, a row each, as a table; on a phone each row is a card. The roles stand there because what is not laid out as
 * a table is none to some screen readers.
 */
export function UpgradeTable({ upgrades, columns, now, chosen, choose }: UpgradeTableProps) {
  const ids = upgrades.map(({ id }) => id);
  const areAll = ids.length > 0 && ids.every((id) => chosen?.has(id));
  return (
    <table class="upgrades" role="table" aria-label="Upgrades">
      <thead role="rowgroup">
        <tr role="row">
          {chosen && (
            <th role="columnheader" scope="col" class="choice">
              <input
                type="checkbox"
                aria-label="Choose all on this page"
                checked={areAll}
                onChange={() => choose(ids, !areAll)}
              />
            </th>
          )}
          <th role="columnheader" scope="col">
            Status
          </th>
          <th role="columnheader" scope="col">
            Upgrade
          </th>
          {columns.map((column) => (
            <th key={column} role="columnheader" scope="col">
              {columnWords[column]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {upgrades.map((upgrade) => {
          const { id, name = id, phase, waitingFor } = upgrade;
          return (
            <tr key={id} role="row">
              {chosen && (
                <td role="cell" class="choice">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${name}`}
                    checked={chosen.has(id)}
                    onChange={({ currentTarget }) => choose([id], currentTarget.checked)}
                  />
                </td>
              )}
              <td role="cell">
                <StatusBadge words={wordsOfPublishedPhase(phase)} />
              </td>
              <th role="rowheader" scope="row">
                <a href={fragmentOf({ page: "UPGRADE", id })}>{name}</a>
                <ChangeTags upgrade={upgrade} />
                {waitingFor && <span class="small wait">{waitingFor.message}</span>}
              </th>
              {columns.map((column) => (
                <td key={column} role="cell" data-column={columnWords[column]}>
                  {cells[column](upgrade, now)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Change record and labels; each lists the upgrades that have the same. */
function ChangeTags({ upgrade: { changeId, labels } }: { readonly upgrade: Upgrade }) {
  const tags = [
    ...(changeId === undefined ? [] : [{ text: changeId, view: { changeId } }]),
    ...labelTexts(labels).map((label) => ({ text: label, view: { label } })),
  ];
  if (tags.length === 0) return null;
  return (
    <span class="small tags">
      {tags.map(({ text, view }) => (
        <a key={text} href={fragmentOf({ page: "UPGRADES", view })} title={`List upgrades with ${text}`}>
          {text}
        </a>
      ))}
    </span>
  );
}

function TimeCell({ time: { before, at, after }, now }: { readonly time: RowTime; readonly now: number }) {
  if (at === undefined) return <>{before}</>;
  return (
    <>
      {before} <Moment at={at} now={now} />
      {after !== undefined && `, ${after}`}
    </>
  );
}

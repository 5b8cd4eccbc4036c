import type * as t from "io-ts";
import type { ComponentManagerAccess } from "../component-manager-access";
import { NsxHttp, type NsxHttpOptions } from "./nsx-http";
import {
  BackupHistory,
  type CheckFailure,
  CheckFailures,
  type GroupStatus,
  GroupStatuses,
  type ManagerCertificate,
  ManagerCertificates,
  NodeStatus,
  PlanSettings,
  UnitGroup,
  UnitGroups,
  type UnitStatus,
  UnitStatuses,
  UpgradeStatus,
  UpgradeSummary,
} from "./nsx-models";

/** What the plan can be told; `upgrade` is start, continue and retry at once from coordinator version 9.1 on. */
export type PlanAction = "upgrade" | "start" | "continue";

/**
 * The upgrade coordinator of a NETVIRT manager, one method per HTTP call; lists are read to their last page. `component`
 * is MP, EDGE, HOST or FINALIZE_UPGRADE. All throw DriverError; only GETs are repeated unasked.
 */
export interface NsxClient {
  readonly id: string;
  readSummary(): Promise<UpgradeSummary>;
  readStatus(): Promise<UpgradeStatus>;
  /** Starts the pre-upgrade checks, of one component or of all; `alreadyDone` where they run already. */
  startPrechecks(component?: string): Promise<void>;
  listPrecheckFailures(component?: string): Promise<CheckFailure[]>;
  readSettings(component: string): Promise<PlanSettings>;
  putSettings(component: string, settings: PlanSettings): Promise<void>;
  listGroups(component: string): Promise<UnitGroup[]>;
  readGroup(group: string): Promise<UnitGroup>;
  /** Replaces a group; a transient error where its `_revision` is not the current one. */
  putGroup(group: UnitGroup): Promise<void>;
  /** Starts, continues or retries a component; returns as soon as that is accepted. */
  startUpgrade(component: string, action: PlanAction): Promise<void>;
  /** Asks for a pause of the whole upgrade: units in work are finished, no further one begins. */
  pauseUpgrade(): Promise<void>;
  listGroupStatuses(component: string): Promise<GroupStatus[]>;
  listUnitStatuses(group: string): Promise<UnitStatus[]>;
  /** When the last backup of the managers ended that succeeded, in epoch milliseconds; undefined where none has. */
  readLastBackup(): Promise<number | undefined>;
  listCertificates(): Promise<ManagerCertificate[]>;
  /** Time and file systems of the node that answers. */
  readNodeStatus(): Promise<NodeStatus>;
  close(): Promise<void>;
}

interface NsxClientOptions extends NsxHttpOptions {
  /** Entries asked for in one page. */
  readonly pageSize?: number;
}

const root = "api/v1/upgrade";

/** A client of the upgrade coordinator at an address of the inventory. */
export function createNsxClient(access: ComponentManagerAccess, options: NsxClientOptions): NsxClient {
  const http = new NsxHttp(access, options);
  const { pageSize = 500 } = options;

  async function list<A>(
    what: string,
    path: string,
    codec: t.Decoder<unknown, { results?: A[]; cursor?: string }>,
    filter: Readonly<Record<string, string>> = {},
  ): Promise<A[]> {
    const all: A[] = [];
    let cursor: string | undefined;
    do {
      const query = { ...filter, page_size: String(pageSize), ...(cursor !== undefined && { cursor }) };
      const page: { results?: A[]; cursor?: string } = await http.call({ what, method: "GET", path, query }, codec);
      all.push(...(page.results ?? []));
      // An empty page ends the list too: a cursor that stands still must not be followed for ever.
      cursor = page.cursor && page.results?.length ? page.cursor : undefined;
    } while (cursor !== undefined);
    return all;
  }

  const groupPath = (group: string) => `${root}/upgrade-unit-groups/${encodeURIComponent(group)}`;
  const ofComponent = (component: string | undefined): Record<string, string> =>
    component === undefined ? {} : { component_type: component };

  return {
    id: access.id,
    readSummary: () =>
      http.call({ what: "read the upgrade summary", method: "GET", path: `${root}/summary` }, UpgradeSummary),
    readStatus: () =>
      http.call({ what: "read the upgrade status", method: "GET", path: `${root}/status-summary` }, UpgradeStatus),
    startPrechecks: (component) =>
      http.tell({
        what: "start the pre-upgrade checks",
        method: "POST",
        path: root,
        query: { action: "execute_pre_upgrade_checks", ...ofComponent(component) },
        onlyChecks: true,
      }),
    listPrecheckFailures: (component) => {
      const what = "read what the pre-upgrade checks found";
      return list(what, `${root}/pre-upgrade-checks/failures`, CheckFailures, ofComponent(component));
    },
    readSettings: (component) => {
      const what = `read the plan settings of ${component}`;
      return http.call({ what, method: "GET", path: `${root}/plan/${component}/settings` }, PlanSettings);
    },
    putSettings: (component, json) => {
      const what = `set the plan settings of ${component}`;
      return http.tell({ what, method: "PUT", path: `${root}/plan/${component}/settings`, json });
    },
    listGroups: (component) => {
      const what = `list the groups of ${component}`;
      const filter = { component_type: component, sync: "true" };
      return list(what, `${root}/upgrade-unit-groups`, UnitGroups, filter);
    },
    readGroup: (group) =>
      http.call({ what: `read group ${group}`, method: "GET", path: groupPath(group), mayBeMissing: true }, UnitGroup),
    putGroup: (group) =>
      http.tell({
        what: `set group ${group.display_name ?? group.id}`,
        method: "PUT",
        path: groupPath(group.id),
        mayBeMissing: true,
        json: group,
      }),
    startUpgrade: (component, action) =>
      http.tell({
        what: `start the upgrade of ${component}`,
        method: "POST",
        path: `${root}/plan`,
        query: { action, component_type: component },
      }),
    pauseUpgrade: () =>
      http.tell({ what: "pause the upgrade", method: "POST", path: `${root}/plan`, query: { action: "pause" } }),
    listGroupStatuses: (component) => {
      const what = `read the status of the groups of ${component}`;
      return list(what, `${root}/upgrade-unit-groups-status`, GroupStatuses, { component_type: component });
    },
    listUnitStatuses: (group) =>
      list(`read the status of the nodes of group ${group}`, `${groupPath(group)}/status`, UnitStatuses),
    readLastBackup: async () => {
      const path = "api/v1/cluster/backups/history";
      const history = await http.call({ what: "read its backups", method: "GET", path }, BackupHistory);
      return lastOf(history.cluster_backup_statuses?.map(({ success, end_time }) => (success ? end_time : undefined)));
    },
    listCertificates: () =>
      list("list its certificates", "api/v1/trust-management/certificates", ManagerCertificates, { details: "true" }),
    readNodeStatus: () =>
      http.call({ what: "read the status of its node", method: "GET", path: "api/v1/node/status" }, NodeStatus),
    close: () => http.close(),
  };
}

/** The latest of these times. */
function lastOf(times: readonly (number | undefined)[] = []): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

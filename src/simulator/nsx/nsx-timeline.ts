import type { SimulatorContext } from "../state/context";
import { type Fault, type FaultKind, isActive } from "../state/fault";
import type { LedgerEntry } from "../state/ledger-entry";
import type { NsxComponent, NsxGroup, NsxManager, NsxUnit } from "./nsx-state";

/** How many groups, and hosts of a group, the product upgrades at once at most. */
const limits = { groups: 5, units: 10 };

/** How long a node takes, as a share of a host's remediation. */
const shareOfHostTime = { MP: 0.6, EDGE: 0.6, HOST: 1, FINALIZE_UPGRADE: 0.2 } as const;
/** Shares of a host's time where it stays in service, or is not restarted. */
const inPlace = 0.4;
const rebootless = 0.7;
/** For which part of its last node's time the API of the managers is away. */
const restartShares = { from: 0.5, until: 0.9 };
/** At which part of its time a node that fails does so, and one that hangs stands still. */
const failureShare = 0.6;
const hangShare = 0.4;
/** How long the overall status lags behind, as a share of a host's time, unless a fault says otherwise. */
const lagShare = 0.05;

/** The groups of a component, in the order of the plan. */
export function groupsOf({ groups }: NsxManager, { type }: Pick<NsxComponent, "type">): NsxGroup[] {
  return groups.filter((group) => group.type === type);
}

/** Whether a component is at work. */
export function isActiveComponent({ status }: NsxComponent): boolean {
  return status === "IN_PROGRESS" || status === "PAUSING";
}

/** The fault of a kind that acts on a node; faults without a node act on all. */
export function findNodeFault(
  context: SimulatorContext,
  kind: FaultKind,
  unit: NsxUnit,
  at: number,
): Fault | undefined {
  return context.state.global.faults.find(
    (fault) =>
      fault.kind === kind &&
      isActive(fault, at) &&
      (fault.node === undefined || fault.node === unit.id || fault.node === unit.name),
  );
}

/** Appends to the ledger; a node goes by its name, a manager by its id. */
export function recordNsx(
  context: SimulatorContext,
  manager: NsxManager,
  entry: { readonly at: number; readonly step: LedgerEntry["step"]; readonly node?: string; readonly detail?: string },
): void {
  const { node, ...rest } = entry;
  context.record({ ...rest, cluster: manager.id, ...(node !== undefined && { host: node }) });
}

/** Lets everything happen that is due by now on every manager, each with the time at which it was due. */
export function advanceNsx(context: SimulatorContext): void {
  const now = context.now();
  for (const manager of context.state.nsx?.managers ?? []) {
    for (const component of manager.components) {
      while (isActiveComponent(component) && happenNext(context, manager, component, now)) continue;
    }
  }
}

/** Begins what may begin, or ends the component where nothing can. Called whenever a node has ended, or at a start. */
export function schedule(context: SimulatorContext, manager: NsxManager, component: NsxComponent, at: number): void {
  const groups = groupsOf(manager, component);
  if (groups.length === 0) {
    component.endsAt ??= at + shareOfHostTime[component.type] * context.hostMilliseconds();
    return;
  }
  const enabled = groups.filter((group) => group.enabled);
  const failed = enabled.some(({ units }) => units.some(({ status }) => status === "FAILED"));
  const mayBegin = component.status === "IN_PROGRESS" && !(failed && component.pauseOnError);
  if (mayBegin) beginUnits(context, manager, component, enabled, at);
  if (enabled.some(isAtWork)) return;

  const rest = enabled.some((group) => group.units.some(canBegin));
  const left = groups.some(({ enabled: on, units }) => !on && units.some(({ status }) => status !== "SUCCESS"));
  const status = failed ? "FAILED" : rest || left ? "PAUSED" : "SUCCESS";
  endComponent(context, manager, component, status, at);
}

function happenNext(context: SimulatorContext, manager: NsxManager, component: NsxComponent, now: number): boolean {
  if (component.endsAt !== undefined) {
    if (component.endsAt > now) return false;
    endComponent(context, manager, component, "SUCCESS", component.endsAt);
    return true;
  }
  const due = groupsOf(manager, component)
    .flatMap((group) => group.units.map((unit) => ({ group, unit })))
    .filter(({ unit }) => unit.status === "IN_PROGRESS" && unit.endsAt !== undefined && unit.endsAt <= now)
    .sort((a, b) => (a.unit.endsAt ?? 0) - (b.unit.endsAt ?? 0))[0];
  if (!due) return false;
  endUnit(context, manager, component, due.group, due.unit);
  return true;
}

function beginUnits(
  context: SimulatorContext,
  manager: NsxManager,
  component: NsxComponent,
  groups: readonly NsxGroup[],
  at: number,
): void {
  const maximumGroups = component.parallel ? limits.groups : 1;
  for (const group of groups) {
    const busy = groups.filter(isAtWork);
    if (!busy.includes(group) && busy.length >= maximumGroups) continue;
    const atOnce = group.parallel ? limits.units : 1;
    const free = atOnce - group.units.filter(({ status }) => status === "IN_PROGRESS").length;
    for (const unit of group.units.filter(canBegin).slice(0, Math.max(0, free))) {
      beginUnit(context, manager, component, group, unit, at);
    }
  }
}

function beginUnit(
  context: SimulatorContext,
  manager: NsxManager,
  component: NsxComponent,
  group: NsxGroup,
  unit: NsxUnit,
  at: number,
): void {
  const duration = durationOf(component, group) * context.hostMilliseconds();
  const fails = findNodeFault(context, "NSX_NODE_FAILS", unit, at);
  const hangs = fails ? undefined : findNodeFault(context, "NSX_NODE_HANGS", unit, at);
  unit.status = "IN_PROGRESS";
  unit.startedAt = at;
  delete unit.endsAt;
  if (!hangs) unit.endsAt = at + (fails ? failureShare : 1) * duration;
  const fault = fails ?? hangs;
  if (fault) {
    context.useFault(fault);
    unit.fault = fault.id;
  }
  if (fails) unit.failure = fails.message ?? `The upgrade of ${unit.name} failed: the new modules could not be loaded.`;
  const last = groupsOf(manager, component).every(({ units }) => !units.some(canBegin));
  if (component.type === "MP" && last) {
    manager.restart = { from: at + restartShares.from * duration, until: at + restartShares.until * duration };
  }
  recordNsx(context, manager, { at, step: "NSX_NODE_STARTED", node: unit.name, detail: component.type });
}

function endUnit(
  context: SimulatorContext,
  manager: NsxManager,
  component: NsxComponent,
  group: NsxGroup,
  unit: NsxUnit,
): void {
  const at = unit.endsAt ?? context.now();
  delete unit.endsAt;
  if (unit.failure === undefined) {
    unit.status = "SUCCESS";
    unit.version = manager.targetVersion;
    recordNsx(context, manager, { at, step: "NSX_NODE_UPGRADED", node: unit.name, detail: unit.version });
  } else {
    unit.status = "FAILED";
    if (component.type === "HOST") unit.maintenance = true;
    recordNsx(context, manager, { at, step: "NSX_NODE_FAILED", node: unit.name, detail: unit.failure });
  }
  const groupDone = !group.units.some(canBegin) && !isAtWork(group);
  const pauses = group.pauseAfterEachUnit || (component.pauseAfterEachGroup && groupDone);
  const paused = context.findFault(["NSX_PAUSED"], {}, at);
  if (paused) context.useFault(paused);
  if ((pauses || paused) && component.status === "IN_PROGRESS") component.status = "PAUSING";
  schedule(context, manager, component, at);
}

function endComponent(
  context: SimulatorContext,
  manager: NsxManager,
  component: NsxComponent,
  status: NsxComponent["status"],
  at: number,
): void {
  component.status = status;
  delete component.endsAt;
  if (component.type === "MP" && status === "SUCCESS") manager.version = manager.targetVersion;
  const fault = context.findFault(["NSX_STATUS_LAGS"], {}, at);
  if (fault) context.useFault(fault);
  manager.lagsUntil = at + (fault ? (fault.seconds ?? 10) * 1000 : lagShare * context.hostMilliseconds());
  recordNsx(context, manager, { at, step: "NSX_COMPONENT_ENDED", detail: `${component.type} ${status}` });
}

function durationOf({ type }: NsxComponent, { extendedConfiguration }: NsxGroup): number {
  if (type !== "HOST") return shareOfHostTime[type];
  const valueOf = (key: string) => extendedConfiguration.find((pair) => pair.key === key)?.value;
  if (valueOf("upgrade_mode") === "in_place") return inPlace;
  return valueOf("rebootless_upgrade") === "true" ? rebootless : shareOfHostTime.HOST;
}

/** How far a node is, from 0 to 100. */
export function percentOf(unit: NsxUnit, now: number): number {
  if (unit.status === "SUCCESS") return 100;
  if (unit.status === "NOT_STARTED") return 0;
  if (unit.status === "FAILED") return Math.floor(100 * failureShare);
  if (unit.endsAt === undefined || unit.startedAt === undefined) return 100 * hangShare;
  const share = (now - unit.startedAt) / Math.max(1, unit.endsAt - unit.startedAt);
  return Math.min(99, Math.max(0, Math.floor(share * 100)));
}

/** A node in the product's own maintenance mode is passed over. */
function canBegin({ status, maintenance }: NsxUnit): boolean {
  return status === "NOT_STARTED" && maintenance !== true;
}

function isAtWork({ units }: NsxGroup): boolean {
  return units.some(({ status }) => status === "IN_PROGRESS");
}

/** Nodes that removed faults held come back: out of maintenance mode, and on with what hung. */
export function releaseNodes(context: SimulatorContext, faults: readonly string[]): void {
  const at = context.now();
  for (const manager of context.state.nsx?.managers ?? []) {
    for (const group of manager.groups) {
      for (const unit of group.units.filter(({ fault }) => fault !== undefined && faults.includes(fault))) {
        delete unit.fault;
        if (unit.maintenance) {
          delete unit.maintenance;
          recordNsx(context, manager, { at, step: "NSX_MAINTENANCE_EXITED", node: unit.name });
        }
        if (unit.status === "IN_PROGRESS" && unit.endsAt === undefined) unit.endsAt = at;
      }
    }
  }
}

import type { SimulatorConfig } from "../config/simulator-config";
import { restoredNsx } from "../nsx/nsx-inventory";
import { type Fault, type FaultKind, isActive } from "./fault";
import { createInventory, inventoryDigest } from "./inventory";
import type { LedgerEntry } from "./ledger-entry";
import { Sessions } from "./sessions";
import type { ClusterState, HostState, SimulatorState } from "./simulator-state";
import type { StateFile } from "./state-file";

/** What a {@link SimulatorContext} is made of. `now` gives epoch milliseconds; without a `file` the state is in memory only. */
export interface SimulatorContextOptions {
  readonly config: SimulatorConfig;
  readonly hostSeconds: number;
  readonly now: () => number;
  readonly log: (fields: object, message: string) => void;
  readonly file?: StateFile;
}

type NewLedgerEntry = Omit<LedgerEntry, "seq" | "at"> & { readonly at: number };

/**
 * The simulated component manager apart from HTTP: its state, clock, sessions, faults and ledger. Whoever changes the
 * state says so by {@link changed}, and answers only after {@link saved}.
 */
export class SimulatorContext {
  readonly sessions: Sessions;
  ledger: LedgerEntry[] = [];
  state: SimulatorState;
  /** Of the clusters of this state. */
  eventQueue: EventQueue;
  hostIndex: HostIndex;
  /** Clusters whose saved form is stale. */
  private readonly stale = new Set<string>();
  private mustSave = false;
  private saving: Promise<void> | undefined;
  private nextSave: Promise<void> | undefined;
  private end = new AbortController();

  private constructor(private readonly options: SimulatorContextOptions) {
    this.state = createInventory(options.config, options.now());
    this.eventQueue = new EventQueue(this.state.clusters);
    this.hostIndex = new HostIndex(this.state.clusters);
    this.sessions = new Sessions(options.config.sessions ?? {});
  }

  /** The state as it was saved, or a new one where nothing usable was. */
  static async open(options: SimulatorContextOptions): Promise<SimulatorContext> {
    const context = new SimulatorContext(options);
    const loaded = await options.file?.load();
    if (loaded?._tag === "Saved" && loaded.saved.state.global.inventory === inventoryDigest(options.config)) {
      const { state } = loaded.saved;
      context.state = { ...state, nsx: restoredNsx(state.nsx, options.config.nsxManagers ?? [], state.clusters) };
      context.eventQueue = new EventQueue(state.clusters);
      context.hostIndex = new HostIndex(state.clusters);
      context.ledger = loaded.saved.ledger;
      options.log({ clusters: context.state.clusters.length }, "simulator state restored");
      return context;
    }
    if (options.file && loaded && loaded._tag !== "None") {
      const reason = loaded._tag === "Saved" ? "another inventory is configured" : "the file is unreadable";
      options.log({ reason, keptAs: await options.file.putAside(options.now()) }, "simulator state set aside");
    }
    await options.file?.clear();
    context.changed();
    await context.saved();
    return context;
  }

  get config(): SimulatorConfig {
    return this.options.config;
  }

  /** Aborted when this state ends or begins again, for what waits for a later moment by a timer. */
  get ending(): AbortSignal {
    return this.end.signal;
  }

  log(fields: object, message: string): void {
    this.options.log(fields, message);
  }

  /** Ends it: nothing that waits happens any more, and everything until now is in the file. */
  async close(): Promise<void> {
    this.end.abort();
    await this.saved();
  }

  /** Epoch milliseconds. */
  now(): number {
    return this.options.now();
  }

  /** How long the remediation of one host takes. */
  hostMilliseconds(): number {
    return (this.state.global.hostSeconds ?? this.options.hostSeconds) * 1000;
  }

  /** Appends to the ledger; `at` is when it happened, which may be before now. */
  record(entry: NewLedgerEntry): void {
    this.ledger.push({ seq: this.ledger.length + 1, ...entry, at: new Date(entry.at).toISOString() });
  }

  /** The first fault of one of these kinds that acts on what is described; faults without a target act on all. */
  findFault(
    kinds: readonly FaultKind[],
    on: { cluster?: string; host?: string } = {},
    at = this.now(),
  ): Fault | undefined {
    return this.state.global.faults.find(
      (fault) =>
        kinds.includes(fault.kind) &&
        isActive(fault, at) &&
        (fault.cluster === undefined || fault.cluster === on.cluster) &&
        (fault.host === undefined || fault.host === on.host),
    );
  }

  /** Counts a use of a fault that acts a number of times. */
  useFault(fault: Fault): void {
    if (fault.remaining === undefined) return;
    fault.remaining -= 1;
    this.mustSave = true;
  }

  /** Says that the state was changed by a call, so that it is saved before the call is answered. */
  changed(cluster?: ClusterState): void {
    if (cluster) this.movedOn(cluster);
    this.mustSave = true;
  }

  /** Says that time changed a cluster. Nothing is lost if that is not saved: it happens again from what was. */
  movedOn(cluster: ClusterState): void {
    this.stale.add(cluster.id);
    this.eventQueue.changed(cluster);
  }

  /** Everything as it was in the beginning, without sessions, faults and ledger. */
  async reset(): Promise<void> {
    this.end.abort();
    this.end = new AbortController();
    await this.saved();
    this.state = createInventory(this.config, this.now());
    this.eventQueue = new EventQueue(this.state.clusters);
    this.hostIndex = new HostIndex(this.state.clusters);
    this.ledger = [];
    this.sessions.expireAll();
    await this.options.file?.clear();
    this.changed();
    await this.saved();
  }

  /**
   * Resolves when every change until now is in the file. Calls that arrive during a write share the next one.
   */
  async saved(): Promise<void> {
    if (!this.mustSave) return this.nextSave ?? this.saving;
    this.nextSave ??= this.saveAfter(this.saving);
    return this.nextSave;
  }

  private async saveAfter(previous: Promise<void> | undefined): Promise<void> {
    // Whoever waits for the previous write hears of its failure; this one is another attempt.
    await previous?.catch(() => undefined);
    this.nextSave = undefined;
    this.mustSave = false;
    const stale = new Set(this.stale);
    this.stale.clear();
    this.saving = this.options.file?.save(this.state, this.ledger, stale);
    try {
      await this.saving;
    } catch (error) {
      this.mustSave = true;
      throw error;
    } finally {
      this.saving = undefined;
    }
  }
}

/** When the next thing happens to a cluster (epoch milliseconds). */
export interface DueEvent {
  readonly at: number;
  readonly cluster: ClusterState;
  /** The cluster's place in the inventory, which decides where two are due at the same moment. */
  readonly place: number;
}

/**
 * The clusters to which something is going to happen, by when. So what is due is found without a look at each task of
 * each cluster, which for thousands of tasks would take longer than all that happens.
 */
export class EventQueue {
  /** The earliest first. */
  private readonly appointments: DueEvent[] = [];
  private readonly known = new Map<ClusterState, DueEvent>();
  private readonly places: ReadonlyMap<ClusterState, number>;
  private readonly stale: Set<ClusterState>;

  constructor(clusters: readonly ClusterState[]) {
    this.places = new Map(clusters.map((cluster, place) => [cluster, place]));
    this.stale = new Set(clusters);
  }

  /** Says that the tasks of a cluster are no longer what they were. */
  changed(cluster: ClusterState): void {
    this.stale.add(cluster);
  }

  /** What is next; undefined where nothing is going to happen. */
  next(): DueEvent | undefined {
    for (const cluster of this.stale) this.enter(cluster);
    this.stale.clear();
    return this.appointments[0];
  }

  private enter(cluster: ClusterState): void {
    const at = nextEventAt(cluster);
    const former = this.known.get(cluster);
    if (former?.at === at) return;
    if (former) this.appointments.splice(this.indexOf(former), 1);
    this.known.delete(cluster);
    if (at === undefined) return;
    const appointment = { at, cluster, place: this.places.get(cluster) ?? Infinity };
    this.appointments.splice(this.indexOf(appointment), 0, appointment);
    this.known.set(cluster, appointment);
  }

  /** Where an appointment is, or belongs. */
  private indexOf({ at, place }: DueEvent): number {
    let low = 0;
    let high = this.appointments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.appointments[middle];
      if (other && (other.at < at || (other.at === at && other.place < place))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** When the first of the events is, that the tasks of a cluster have before them; undefined where none has any. */
function nextEventAt({ tasks, vim25 }: ClusterState): number | undefined {
  let next: number | undefined;
  const consider = (at: number | undefined) => {
    if (at !== undefined && (next === undefined || at < next)) next = at;
  };
  for (const { status, events } of tasks) if (status === "OPEN") consider(events[0]?.at);
  for (const { events } of vim25?.tasks ?? []) consider(events[0]?.at);
  return next;
}

/** A host with the cluster that it belongs to. */
export interface KnownHost {
  readonly cluster: ClusterState;
  readonly host: HostState;
}

/**
 * Which cluster holds what, by id: most calls name a host or a task, and with thousands of them a look through all
 * clusters would be most of the work. Clusters stay the same as long as the state does.
 */
class HostIndex {
  private readonly clusters = new Map<string, ClusterState>();
  private readonly hosts = new Map<string, KnownHost>();
  private readonly tasks = new Map<string, ClusterState>();

  constructor(clusters: readonly ClusterState[]) {
    for (const cluster of clusters) {
      // Of several of the same id the first is meant.
      if (!this.clusters.has(cluster.id)) this.clusters.set(cluster.id, cluster);
      for (const host of cluster.hosts) if (!this.hosts.has(host.id)) this.hosts.set(host.id, { cluster, host });
      for (const { id } of [...cluster.tasks, ...(cluster.vim25?.tasks ?? [])]) this.tasks.set(id, cluster);
    }
  }

  cluster(id: string): ClusterState | undefined {
    return this.clusters.get(id);
  }

  host(id: string): KnownHost | undefined {
    return this.hosts.get(id);
  }

  hostJoined(cluster: ClusterState, host: HostState): void {
    this.hosts.set(host.id, { cluster, host });
  }

  hostLeft(host: HostState): void {
    this.hosts.delete(host.id);
  }

  /** The cluster that a task of whichever API was opened on; the task itself may be forgotten or long gone. */
  clusterOfTask(id: string): ClusterState | undefined {
    return this.tasks.get(id);
  }

  /** Notes which tasks a cluster has from now on, and which no longer. */
  tasksChanged(cluster: ClusterState, opened: string, dropped: Iterable<string>): void {
    this.tasks.set(opened, cluster);
    for (const id of dropped) this.tasks.delete(id);
  }
}

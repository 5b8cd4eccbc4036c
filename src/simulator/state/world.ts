import type { SimulatorConfig } from "../config/simulator-config";
import { restoredNsx } from "../nsx/nsx-inventory";
import { Agenda } from "./agenda";
import { type Fault, type FaultKind, isActive } from "./fault";
import { createInventory, inventoryDigest } from "./inventory";
import type { LedgerEntry } from "./ledger-entry";
import { Sessions } from "./sessions";
import type { ClusterState, SimulatorState } from "./simulator-state";
import type { StateFile } from "./state-file";
import { Whereabouts } from "./whereabouts";

/** What a {@link World} is made of. `now` gives epoch milliseconds; without a `file` the state is in memory only. */
export interface WorldOptions {
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
export class World {
  readonly sessions: Sessions;
  ledger: LedgerEntry[] = [];
  state: SimulatorState;
  /** Of the clusters of this state. */
  agenda: Agenda;
  whereabouts: Whereabouts;
  /** Clusters whose saved form is stale. */
  private readonly stale = new Set<string>();
  private mustSave = false;
  private saving: Promise<void> | undefined;
  private nextSave: Promise<void> | undefined;
  private end = new AbortController();

  private constructor(private readonly options: WorldOptions) {
    this.state = createInventory(options.config, options.now());
    this.agenda = new Agenda(this.state.clusters);
    this.whereabouts = new Whereabouts(this.state.clusters);
    this.sessions = new Sessions(options.config.sessions ?? {});
  }

  /** The world as it was saved, or a new one where nothing usable was. */
  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    const loaded = await options.file?.load();
    if (loaded?._tag === "Saved" && loaded.saved.state.global.inventory === inventoryDigest(options.config)) {
      const { state } = loaded.saved;
      world.state = { ...state, nsx: restoredNsx(state.nsx, options.config.nsxManagers ?? [], state.clusters) };
      world.agenda = new Agenda(state.clusters);
      world.whereabouts = new Whereabouts(state.clusters);
      world.ledger = loaded.saved.ledger;
      options.log({ clusters: world.state.clusters.length }, "simulator state restored");
      return world;
    }
    if (options.file && loaded && loaded._tag !== "None") {
      const reason = loaded._tag === "Saved" ? "another inventory is configured" : "the file is unreadable";
      options.log({ reason, keptAs: await options.file.putAside(options.now()) }, "simulator state set aside");
    }
    await options.file?.clear();
    world.changed();
    await world.saved();
    return world;
  }

  get config(): SimulatorConfig {
    return this.options.config;
  }

  /** Aborted when this world ends or begins again, for what waits for a later moment by a timer. */
  get ending(): AbortSignal {
    return this.end.signal;
  }

  log(fields: object, message: string): void {
    this.options.log(fields, message);
  }

  /** Ends the world: nothing that waits happens any more, and everything until now is in the file. */
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
    this.agenda.changed(cluster);
  }

  /** Everything as it was in the beginning, without sessions, faults and ledger. */
  async reset(): Promise<void> {
    this.end.abort();
    this.end = new AbortController();
    await this.saved();
    this.state = createInventory(this.config, this.now());
    this.agenda = new Agenda(this.state.clusters);
    this.whereabouts = new Whereabouts(this.state.clusters);
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

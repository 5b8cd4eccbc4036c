import type { ClusterState } from "./simulator-state";

/** When the next thing happens to a cluster (epoch milliseconds). */
export interface Appointment {
  readonly at: number;
  readonly cluster: ClusterState;
  /** The cluster's place in the inventory, which decides where two are due at the same moment. */
  readonly place: number;
}

/**
 * The clusters to which something is going to happen, by when. So what is due is found without a look at each task of
 * each cluster, which for thousands of tasks would take longer than all that happens.
 */
export class Agenda {
  /** The earliest first. */
  private readonly appointments: Appointment[] = [];
  private readonly known = new Map<ClusterState, Appointment>();
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
  next(): Appointment | undefined {
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
  private indexOf({ at, place }: Appointment): number {
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

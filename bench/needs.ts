/** The clusters that a part of the benchmark needs, and how the service is told to run. */
export interface Needs {
  readonly clusters: number;
  readonly hosts: number;
  /** Hosts of a cluster that are upgraded together; default 1. */
  readonly hostsAtOnce?: number;
}

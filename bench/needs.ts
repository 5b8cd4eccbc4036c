/** The clusters that a part of the benchmark needs, and how the service is told to run. */
export interface Needs {
  readonly clusters: number;
  readonly hosts: number;
  /** Hosts of a cluster that are upgraded together; default 1. */
  readonly hostsAtOnce?: number;
  /** So many clusters, the first ones, upgrade host by host whatever `hostsAtOnce` says; default 0. */
  readonly hostByHost?: number;
  /** Names of clusters and hosts as long as those of large companies are, about 50 characters. */
  readonly longNames?: boolean;
  /** Who is to be told by notifications what happens to upgrades. */
  readonly receiver?: { readonly url: string; readonly secret: string };
}

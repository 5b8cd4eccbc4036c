/** What one run of the benchmark has measured (docs/performance.md). */
export interface MeasuredCosts {
  /** History events of an upgrade and of its clusters for each host. */
  readonly eventsPerHost: number;
  /** Kilobytes of those events. */
  readonly historyKilobytesPerHost: number;
  /** Milliseconds of a processor that worker and API use for each host that takes two seconds. */
  readonly serviceMillisecondsPerHost: number;
  /** The same of Temporal with its database. */
  readonly temporalMillisecondsPerHost: number;
  /** Share of a processor that worker and API use for each cluster with hosts in work, with a heartbeat every 2 s and a look every 5 s. */
  readonly serviceSharePerCluster: number;
  /** The same of Temporal with its database. */
  readonly temporalSharePerCluster: number;
}

/** What is assumed because it cannot be measured here. Each can be set by `npm run bench:scale -- --set name=value`. */
export interface Assumptions {
  readonly sites: number;
  readonly hosts: number;
  readonly hostsPerCluster: number;
  /** Hosts of a cluster that are in work at the same time. */
  readonly hostsAtOnce: number;
  /** How long a host takes. */
  readonly hostMinutes: number;
  /** In how many days everything is upgraded once. */
  readonly campaignDays: number;
  /** How often it is, in a year. */
  readonly campaignsPerYear: number;
  /** How often a running Activity heartbeats (`heartbeatEvery` in activities/activity-run.ts); it is assumed to look as much less often. */
  readonly heartbeatSeconds: number;
  /** Days for which closed Workflows are kept. */
  readonly retentionDays: number;
  /** Clusters of one upgrade. */
  readonly clustersPerUpgrade: number;
  /** Events that are stored together in one row: a Workflow Task's come together, others alone. */
  readonly eventsPerRow: number;
  /** Bytes in the database for each byte of history: row headers, indexes, free space. */
  readonly databaseOverhead: number;
  readonly historyShards: number;
  /** How busy a processor is planned to be. */
  readonly utilization: number;
  /** Activities of one worker at a time (`maxConcurrentActivityTaskExecutions`). */
  readonly slotsPerWorker: number;
  /** Workers of a site that has its own, because nothing else reaches its component managers. */
  readonly workersPerSite: number;
  /** Example prices: of a processor for an hour, of a gigabyte for a month, of a million Actions of a hosted Temporal. */
  readonly dollarsPerProcessorHour: number;
  readonly dollarsPerGigabyteMonth: number;
  readonly dollarsPerMillionActions: number;
}

/** What the costs were measured with. */
const measuredHeartbeatSeconds = 2;

export const defaultAssumptions: Assumptions = {
  sites: 1000,
  hosts: 1_000_000,
  hostsPerCluster: 64,
  hostsAtOnce: 1,
  hostMinutes: 45,
  campaignDays: 7,
  campaignsPerYear: 4,
  heartbeatSeconds: measuredHeartbeatSeconds,
  retentionDays: 90,
  clustersPerUpgrade: 16,
  eventsPerRow: 1.5,
  databaseOverhead: 2,
  historyShards: 512,
  utilization: 0.5,
  slotsPerWorker: 2000,
  workersPerSite: 2,
  dollarsPerProcessorHour: 0.05,
  dollarsPerGigabyteMonth: 0.2,
  dollarsPerMillionActions: 50,
};

/** What a fleet needs while all of it is upgraded once. */
export interface Scale {
  readonly clusters: number;
  /** One a cluster, and one an upgrade. */
  readonly workflows: number;
  /** On average, while the campaign lasts. */
  readonly clustersInWork: number;
  readonly hostsPerSecond: number;
  readonly eventsPerSecond: number;
  readonly heartbeatsPerSecond: number;
  /** Changes of Workflow state that a shard makes in a second, heartbeats among them. */
  readonly writesPerShardPerSecond: number;
  readonly serviceProcessors: number;
  readonly temporalProcessors: number;
  /** Of one Task Queue for all. */
  readonly workers: number;
  /** Of a Task Queue for each site. */
  readonly workersAtSites: number;
  readonly databaseRows: number;
  readonly databaseGigabytes: number;
  /** As hosted Temporal counts them: Workflows, Activities, Signals, heartbeats. */
  readonly actions: number;
  readonly dollarsPerYearOwn: number;
  readonly dollarsPerYearHosted: number;
}

const secondsPerDay = 86_400;

/** Calculates a fleet from what was measured and what is assumed. All of it is linear in the hosts. */
export function scaleOf(costs: MeasuredCosts, a: Assumptions): Scale {
  const clusters = a.hosts / a.hostsPerCluster;
  const upgrades = Math.ceil(clusters / a.clustersPerUpgrade);
  const clusterDays = ((a.hostsPerCluster / a.hostsAtOnce) * a.hostMinutes) / (24 * 60);
  const clustersInWork = clusters * Math.min(1, clusterDays / a.campaignDays);
  const hostsPerSecond = a.hosts / (Math.max(a.campaignDays, clusterDays) * secondsPerDay);
  const eventsPerSecond = hostsPerSecond * costs.eventsPerHost;
  // Hosts that are remediated together have one Activity, and so has a host alone.
  const heartbeatsPerSecond = clustersInWork / a.heartbeatSeconds;
  const looksMeasured = measuredHeartbeatSeconds / a.heartbeatSeconds;
  const processors = (milliseconds: number, share: number) =>
    ((hostsPerSecond * milliseconds) / 1000 + clustersInWork * share * looksMeasured) / a.utilization;
  const serviceProcessors = processors(costs.serviceMillisecondsPerHost, costs.serviceSharePerCluster);
  const temporalProcessors = processors(costs.temporalMillisecondsPerHost, costs.temporalSharePerCluster);

  const keptCampaigns = Math.max(1, (a.retentionDays / 365) * a.campaignsPerYear);
  const workflows = clusters + upgrades;
  // Of each Workflow its state, its place by id and its entry in the list, beside the rows of its history.
  const databaseRows = keptCampaigns * ((a.hosts * costs.eventsPerHost) / a.eventsPerRow + 3 * workflows);
  const databaseGigabytes =
    (keptCampaigns * a.hosts * costs.historyKilobytesPerHost * a.databaseOverhead) / (1024 * 1024);

  const activities = a.hosts / a.hostsAtOnce;
  const heartbeats = activities * ((a.hostMinutes * 60) / a.heartbeatSeconds);
  // A cluster has six Activities beside its hosts, and is begun by a Signal.
  const actions = activities + heartbeats + clusters * (1 + 6 + 1) + upgrades;
  const campaignHours = Math.max(a.campaignDays, clusterDays) * 24;
  const storage = databaseGigabytes * a.dollarsPerGigabyteMonth * 12;
  const processorHours = campaignHours * a.campaignsPerYear;
  const ownService = serviceProcessors * processorHours * a.dollarsPerProcessorHour;
  return {
    clusters,
    workflows,
    clustersInWork,
    hostsPerSecond,
    eventsPerSecond,
    heartbeatsPerSecond,
    writesPerShardPerSecond: (eventsPerSecond / a.eventsPerRow + heartbeatsPerSecond) / a.historyShards,
    serviceProcessors,
    temporalProcessors,
    // One more than needed, so that one may go.
    workers: 1 + Math.max(1, Math.ceil(serviceProcessors), Math.ceil(clustersInWork / a.slotsPerWorker)),
    workersAtSites: a.sites * a.workersPerSite,
    databaseRows,
    databaseGigabytes,
    actions,
    dollarsPerYearOwn: ownService + temporalProcessors * processorHours * a.dollarsPerProcessorHour + storage,
    dollarsPerYearHosted: ownService + (actions * a.campaignsPerYear * a.dollarsPerMillionActions) / 1e6,
  };
}

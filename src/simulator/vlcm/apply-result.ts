import type { ApplyRecord, CheckSnapshot, ClusterState, HostRun, TaskState } from "../state/simulator-state";
import { progressAt } from "../timeline/host-timeline";
import { localizable, notification } from "./vapi-error";

const time = (at: number) => new Date(at).toISOString();

/** Names of hosts by id, which every result carries. */
export function hostInfo(cluster: ClusterState, ids: readonly string[]) {
  const wanted = new Set(ids);
  const named = cluster.hosts.filter(({ id }) => wanted.has(id));
  return Object.fromEntries(named.map(({ id, name }) => [id, { name }]));
}

const isRunning = ({ status }: HostRun) => status === "RUNNING" || status === "RETRY_PENDING";
const hasFailed = ({ status }: HostRun) => status === "ERROR" || status === "TIMED_OUT";

/** Status of one host. The shape wants an end time of a running host too; it is the present then. */
function hostStatus(run: HostRun, now: number) {
  const end = run.endedAt ?? now;
  const { percent, message } = progressAt(run.marks, now);
  return {
    status: run.status,
    start_time: time(run.startedAt ?? end),
    end_time: time(end),
    ...(run.status === "RUNNING" && {
      progress: { total: 100, completed: percent, message: localizable("host.progress", message) },
    }),
    notifications: {
      ...(run.failures && { errors: run.failures.map((failure) => notification("ERROR", failure)) }),
      ...(run.note !== undefined && {
        info: [notification("INFO", { id: "host.skipped", message: run.note, at: end })],
      }),
    },
  };
}

function hostLists(cluster: ClusterState, runs: readonly HostRun[], now: number) {
  const begun = runs.filter(({ status }) => status !== "WAITING");
  const ids = (select: (run: HostRun) => boolean) => runs.filter(select).map(({ host }) => host);
  return {
    host_info: hostInfo(
      cluster,
      runs.map(({ host }) => host),
    ),
    host_status: Object.fromEntries(begun.map((run) => [run.host, hostStatus(run, now)])),
    successful_hosts: ids(({ status }) => status === "OK"),
    failed_hosts: ids(hasFailed),
    skipped_hosts: ids(({ status }) => status === "SKIPPED"),
  };
}

/** Result of a remediation's task, partial while it runs. */
export function applyResult(cluster: ClusterState, task: TaskState, now: number) {
  const runs = task.runs ?? [];
  const status = task.status === "OPEN" ? "RUNNING" : task.status === "SUCCEEDED" ? "OK" : "ERROR";
  return {
    status: {
      status,
      start_time: time(task.createdAt),
      end_time: time(task.endedAt ?? now),
      notifications: {},
    },
    commit: task.commit ?? "",
    ...hostLists(cluster, runs, now),
  };
}

/** How far a remediation is: finished hosts, and the running ones by their own progress. */
export function applyProgress(task: TaskState, now: number): { percent: number; message: string } {
  const runs = (task.runs ?? []).filter(({ status }) => status !== "SKIPPED");
  const inWork = runs.filter(isRunning);
  const [current] = inWork;
  const { message: first } = current ? progressAt(current.marks, now) : { message: "" };
  const underWay = inWork.reduce((sum, { marks }) => sum + progressAt(marks, now).percent, 0);
  const message =
    current?.status === "RETRY_PENDING"
      ? "Waiting to enter maintenance mode again."
      : first || "Remediation is about to begin.";
  const finished = runs.filter(({ status }) => status === "OK" || status === "ERROR" || status === "TIMED_OUT").length;
  const percent = runs.length === 0 ? 100 : Math.floor((finished * 100 + underWay) / runs.length);
  return { percent, message };
}

/** `reports/last-apply-result`: the latest remediation that has ended. */
export function lastApplyResult(cluster: ClusterState, record: ApplyRecord) {
  return {
    status: {
      status: record.succeeded ? "OK" : "ERROR",
      start_time: time(record.startedAt),
      end_time: time(record.endedAt),
      notifications: {},
    },
    commit: record.commit,
    ...hostLists(cluster, record.runs, record.endedAt),
  };
}

const readiness = {
  check: "com.vmware.vcIntegrity.lifecycle.host_readiness",
  name: localizable("check.host_readiness.name", "Host readiness"),
  description: localizable("check.host_readiness.description", "Whether the host can be remediated."),
};
const clusterHealth = {
  check: "com.vmware.vcIntegrity.lifecycle.cluster_health",
  name: localizable("check.cluster_health.name", "Cluster health"),
  description: localizable("check.cluster_health.description", "Whether the cluster as a whole can be remediated."),
};

/** Result of a health check: one entry for the cluster, one for each host that was checked. */
export function checkResult(cluster: ClusterState, check: CheckSnapshot) {
  const entries = Object.entries(check.issues);
  const hosts = entries.map(([host, issues]) => {
    const warnings = check.warnings?.[host] ?? [];
    const status = issues.length > 0 ? "ERROR" : warnings.length > 0 ? "WARNING" : "OK";
    const messages = [...issues, ...warnings].map((issue) => localizable("check.host_readiness.issue", issue));
    return { type: "HOST", host, status, check_statuses: [{ check: readiness, status, issues: messages }] };
  });
  const worst = (["ERROR", "WARNING"] as const).find((status) => hosts.some((host) => host.status === status)) ?? "OK";
  return {
    status: worst,
    start_time: new Date(check.startedAt).toISOString(),
    end_time: new Date(check.endedAt).toISOString(),
    commit: check.commit,
    host_info: hostInfo(
      cluster,
      entries.map(([host]) => host),
    ),
    entity_results: [
      {
        type: "CLUSTER",
        cluster: cluster.id,
        status: "OK",
        check_statuses: [{ check: clusterHealth, status: "OK", issues: [] }],
      },
      ...hosts,
    ],
  };
}

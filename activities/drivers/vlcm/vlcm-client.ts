import * as t from "io-ts";
import type { ComponentManagerAccess } from "../component-manager-access";
import { isNotFound } from "../driver-error";
import { type VapiCall, VapiHttp, type VapiHttpOptions } from "../vapi/vapi-http";
import { batchCalls, batchTaskReads } from "./batched-calls";
import {
  ApplyResult,
  ClusterCompliance,
  ClusterSummaries,
  type ClusterSummary,
  Drafts,
  Enablement,
  HostSummaries,
  type HostSummary,
  Identifier,
  Policy,
  SessionInfo,
  SoftwareInfo,
  TaskInfo,
  TaskInfos,
} from "./vlcm-models";

/** The service whose tasks are remediations, checks and scans of clusters. */
const softwareService = "com.vmware.esx.settings.clusters.software";
const unfinished = ["PENDING", "RUNNING", "BLOCKED"];

/** The unfinished tasks of each cluster that is asked for, by their ids. */
function unfinishedOf(tasks: t.TypeOf<typeof TaskInfos>): (cluster: string) => ReadonlyMap<string, TaskInfo> {
  const byCluster = new Map<string, Map<string, TaskInfo>>();
  for (const [id, task] of Object.entries(tasks)) {
    if (task.target === undefined || !unfinished.includes(task.status)) continue;
    const own = byCluster.get(task.target.id) ?? new Map<string, TaskInfo>();
    byCluster.set(task.target.id, own.set(id, task));
  }
  return (cluster) => byCluster.get(cluster) ?? new Map<string, TaskInfo>();
}

/** A draft of a cluster's desired image and the user who made it. */
interface DraftOwner {
  readonly draft: string;
  readonly owner: string;
}

interface ApplyRequest {
  /** At least one. More are remediated at the same time only where the cluster's policy says so. */
  readonly hosts: readonly string[];
  /** A floor: the product may apply a later commit, never an earlier one. */
  readonly commit?: string;
}

/**
 * The lifecycle manager of image-managed clusters, one method per HTTP call. `cluster` and `host` are the manager's own
 * ids. Methods that give a `task` return at once; the task tells the end. All throw DriverError; only GETs are repeated
 * unasked. Needs no Activity, so that the inventory can read with it too.
 */
export interface VlcmClient {
  readonly id: string;
  /** The component manager's own time in epoch milliseconds, to the second. */
  now(): number;
  /** Proves address and credentials; gives the name under which the manager knows our user. */
  readUser(): Promise<string>;
  listClusters(): Promise<ClusterSummary[]>;
  isImageManaged(cluster: string): Promise<boolean>;
  listHosts(cluster: string): Promise<HostSummary[]>;
  readDesiredImage(cluster: string): Promise<SoftwareInfo>;
  /** The result of the last scan; undefined where there was none yet. */
  readCompliance(cluster: string): Promise<ClusterCompliance | undefined>;
  scan(cluster: string): Promise<string>;
  check(cluster: string): Promise<string>;
  apply(cluster: string, request: ApplyRequest): Promise<string>;
  /** The last remediation of the cluster that ended, whoever asked for it; undefined where there was none. */
  readLastApplyResult(cluster: string): Promise<ApplyResult | undefined>;
  readPolicy(cluster: string): Promise<Record<string, unknown>>;
  /** What holds for a remediation: the cluster's policy over that of all clusters. */
  readEffectivePolicy(cluster: string): Promise<Record<string, unknown>>;
  putPolicy(cluster: string, policy: Readonly<Record<string, unknown>>): Promise<void>;
  /** Whose turn it is to make a draft of a cluster, among those that share this client. */
  readonly draftMutex: DraftMutex;
  listDrafts(cluster: string): Promise<DraftOwner[]>;
  /** A draft that begins as the cluster's desired image. */
  createDraft(cluster: string): Promise<string>;
  /** A draft with the image that a software specification says. */
  importDraft(cluster: string, specification: object): Promise<string>;
  putDraftBaseImage(cluster: string, draft: string, version: string): Promise<void>;
  validateDraft(cluster: string, draft: string): Promise<string>;
  /** The task's result is the id of the commit. */
  commitDraft(cluster: string, draft: string, message: string): Promise<string>;
  deleteDraft(cluster: string, draft: string): Promise<void>;
  /** Calls at the same time share one, those of the patient for longer, as {@link batchTaskReads} says. */
  readTask(task: string, mayWait?: boolean): Promise<TaskInfo>;
  /** The unfinished lifecycle tasks of a cluster by their ids. Calls at the same time share one ({@link batchCalls}). */
  listUnfinishedTasks(cluster: string): Promise<ReadonlyMap<string, TaskInfo>>;
  cancelTask(task: string): Promise<void>;
  /** Logs out and drops the connections. Never throws. */
  close(): Promise<void>;
}

/** A client of one component manager. Its callers share one session; keep one client per manager. */
export function createVlcmClient(access: ComponentManagerAccess, options: VapiHttpOptions): VlcmClient {
  const http = new VapiHttp(access, options);
  const ask = <A>(call: VapiCall, codec: t.Decoder<unknown, A>) => http.call(call, codec);
  // Codes without a body are 204 in some versions and an empty 200 in others.
  const tell = async (call: VapiCall): Promise<void> => void (await http.call(call, t.unknown));
  const startTask = (call: Omit<VapiCall, "method">) =>
    ask({ ...call, method: "POST", query: { ...call.query, "vmw-task": "true" } }, Identifier);
  const unlessNotFound = async <A>(answer: Promise<A>): Promise<A | undefined> => {
    try {
      return await answer;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const settings = (cluster: string) => `api/esx/settings/clusters/${encodeURIComponent(cluster)}`;
  const software = (cluster: string) => `${settings(cluster)}/software`;
  const draftPath = (cluster: string, draft: string) => `${software(cluster)}/drafts/${encodeURIComponent(draft)}`;
  const taskPath = (task: string) => `api/cis/tasks/${encodeURIComponent(task)}`;
  const readTask = batchTaskReads({
    readOne: (task) =>
      ask({ what: `read task ${task}`, method: "GET", path: taskPath(task), mayBeMissing: true }, TaskInfo),
    readMany: (tasks) =>
      ask({ what: `read ${tasks.length} tasks`, method: "GET", path: "api/cis/tasks", query: { tasks } }, TaskInfos),
  });

  // The manager tells of all its clusters at once, which for a thousand in work is most of a megabyte.
  const listUnfinishedTasks = batchCalls({
    askAll: async (clusters: readonly string[]) => {
      const [first = "", ...others] = new Set(clusters);
      const tasks = await ask(
        {
          what: `list the running tasks of ${others.length === 0 ? first : `${first} and ${others.length} more`}`,
          method: "GET",
          path: "api/cis/tasks",
          query: { services: softwareService, status: unfinished },
        },
        TaskInfos,
      );
      return clusters.map(unfinishedOf(tasks));
    },
  });

  return {
    id: access.id,
    draftMutex: new DraftMutex(),
    now: () => http.now(),
    readUser: async () => (await ask({ what: "log in", method: "GET", path: "api/session" }, SessionInfo)).user,

    listClusters: () =>
      ask({ what: "list the clusters", method: "GET", path: "api/vcenter/cluster" }, ClusterSummaries),
    isImageManaged: async (cluster) => {
      const what = `read how cluster ${cluster} is managed`;
      return (await ask({ what, method: "GET", path: `${settings(cluster)}/enablement/software` }, Enablement)).enabled;
    },
    listHosts: (cluster) =>
      ask(
        { what: `list the hosts of ${cluster}`, method: "GET", path: "api/vcenter/host", query: { clusters: cluster } },
        HostSummaries,
      ),

    readDesiredImage: (cluster) =>
      ask({ what: `read the desired image of ${cluster}`, method: "GET", path: software(cluster) }, SoftwareInfo),
    readCompliance: (cluster) => {
      const what = `read the compliance of ${cluster}`;
      return unlessNotFound(
        ask({ what, method: "GET", path: `${software(cluster)}/compliance`, mayBeMissing: true }, ClusterCompliance),
      );
    },
    scan: (cluster) =>
      startTask({ what: `scan ${cluster}`, path: software(cluster), query: { action: "scan" }, onlyChecks: true }),
    check: (cluster) =>
      startTask({
        what: `check the health of ${cluster}`,
        path: software(cluster),
        query: { action: "check" },
        json: {},
        onlyChecks: true,
      }),
    apply: (cluster, { hosts, commit }) =>
      startTask({
        what: `start the remediation of ${hosts.length > 3 ? `${hosts.length} hosts` : hosts.join(", ")}`,
        path: software(cluster),
        query: { action: "apply" },
        json: { hosts, accept_eula: true, ...(commit !== undefined && { commit }) },
      }),
    readLastApplyResult: (cluster) => {
      const what = `read the last remediation of ${cluster}`;
      const path = `${software(cluster)}/reports/last-apply-result`;
      return unlessNotFound(ask({ what, method: "GET", path, mayBeMissing: true }, ApplyResult));
    },

    readPolicy: (cluster) =>
      ask(
        {
          what: `read the remediation policy of ${cluster}`,
          method: "GET",
          path: `${settings(cluster)}/policies/apply`,
        },
        Policy,
      ),
    readEffectivePolicy: (cluster) =>
      ask(
        {
          what: `read the effective remediation policy of ${cluster}`,
          method: "GET",
          path: `${settings(cluster)}/policies/apply/effective`,
        },
        Policy,
      ),
    putPolicy: (cluster, policy) =>
      tell({
        what: `set the remediation policy of ${cluster}`,
        method: "PUT",
        path: `${settings(cluster)}/policies/apply`,
        json: policy,
      }),

    listDrafts: async (cluster) => {
      const drafts = await ask(
        { what: `list the drafts of ${cluster}`, method: "GET", path: `${software(cluster)}/drafts` },
        Drafts,
      );
      return Object.entries(drafts).map(([draft, { metadata }]) => ({ draft, owner: metadata.owner }));
    },
    createDraft: (cluster) =>
      ask(
        { what: `make a draft image of ${cluster}`, method: "POST", path: `${software(cluster)}/drafts` },
        Identifier,
      ),
    importDraft: (cluster, specification) =>
      ask(
        {
          what: `import a draft image of ${cluster}`,
          method: "POST",
          path: `${software(cluster)}/drafts`,
          query: { action: "import-software-spec" },
          json: { source_type: "JSON_STRING", software_spec: JSON.stringify(specification) },
        },
        Identifier,
      ),
    putDraftBaseImage: (cluster, draft, version) =>
      tell({
        what: `put ${version} into a draft image of ${cluster}`,
        method: "PUT",
        path: `${draftPath(cluster, draft)}/software/base-image`,
        mayBeMissing: true,
        json: { version },
      }),
    validateDraft: (cluster, draft) =>
      startTask({
        what: `validate a draft image of ${cluster}`,
        path: draftPath(cluster, draft),
        mayBeMissing: true,
        query: { action: "validate" },
      }),
    commitDraft: (cluster, draft, message) =>
      startTask({
        what: `commit the desired image of ${cluster}`,
        path: draftPath(cluster, draft),
        mayBeMissing: true,
        query: { action: "commit" },
        json: { message },
      }),
    deleteDraft: (cluster, draft) =>
      tell({
        what: `delete a draft image of ${cluster}`,
        method: "DELETE",
        path: draftPath(cluster, draft),
        mayBeMissing: true,
      }),

    readTask,
    listUnfinishedTasks,
    cancelTask: (task) =>
      tell({
        what: `cancel task ${task}`,
        method: "POST",
        path: taskPath(task),
        query: { action: "cancel" },
        mayBeMissing: true,
      }),
    close: () => http.close(),
  };
}

/** How long somebody's turn holds up the next, in milliseconds: it may be waiting for a component manager that hangs. */
const longestHold = 60_000;

/** A turn on the draft of a cluster. */
interface DraftPermit {
  /** Resolves when those before have ended theirs, or that takes too long; never rejects. */
  readonly hasCome: Promise<void>;
  /** Lets the next one go on. Must be called, also by whoever does not wait for the turn any longer. */
  end(): void;
}

/**
 * A user has one draft of a cluster at most, and whoever makes a new one deletes the one before. So those that share a
 * client, and with it the user, take turns, first come, first served. A mutex of async-mutex fails whoever waits for too
 * long; here they go ahead.
 */
export class DraftMutex {
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly longest = longestHold) {}

  take(cluster: string): DraftPermit {
    const hasCome = this.#atMost(this.#last.get(cluster));
    let end: () => void = () => undefined;
    const own = new Promise<void>((resolve) => (end = resolve));
    const last = hasCome.then(() => own);
    this.#last.set(cluster, last);
    void last.then(() => {
      if (this.#last.get(cluster) === last) this.#last.delete(cluster);
    });
    return { hasCome, end };
  }

  async #atMost(before: Promise<void> | undefined): Promise<void> {
    if (!before) return;
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.longest)));
    await Promise.race([before, tooLong]);
    clearTimeout(timer);
  }
}

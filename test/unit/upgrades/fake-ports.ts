import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { Opening } from "../../../src/domain/opening";
import type { Freeze } from "../../../src/domain/freeze";
import { type Hold, holdWorkflowId } from "../../../src/domain/hold";
import type { ManagerSilence } from "../../../src/domain/manager-silence";
import type { PageRequest } from "../../../src/domain/page";
import type { ClusterEntryFacts, ClusterLookup } from "../../../src/domain/plan/facts";
import type { UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import type { HoldingUpgrade } from "../../../src/domain/resource-lock";
import type { ClusterMember } from "../../../src/domain/spec/cluster";
import type { Task } from "../../../src/domain/spec/task";
import type { PageOfUpgrade } from "../../../src/domain/spec/upgrade";
import type { ClusterWork } from "../../../src/domain/upgrade/cluster-work";
import { initialTask } from "../../../src/domain/task/task-progress";
import { defaultActivityWaits } from "../../../src/domain/time-limits";
import type { UpgradeServiceDependencies } from "../../../src/upgrades/create-upgrade-service";
import { ManualTimers } from "../../support/manual-timers";
import type { Freezes, Holds, UpgradeFilter } from "../../../src/upgrades/ports";
import type { ServiceError } from "../../../src/upgrades/service-error";
import { noInstallations, sampleBundle, sampleCluster } from "../../support/sample-plan";
import { FakeReadiness } from "./fake-readiness";
import { FakeRunningUpgrades } from "./fake-running-upgrades";

export const now = Date.parse("2026-11-01T12:00:00.000Z");

/** Ports in memory that behave as their contract says: an id starts once, whoever asks; failures can be put in. */
export class FakePorts {
  /** Every attempt to start, with the plan. */
  readonly starts: { readonly plan: UpgradePlan; readonly requestDigest: string | undefined }[] = [];
  opening: Opening = { isOpen: true };
  readonly lists: { readonly filter: UpgradeFilter; readonly page: PageRequest | undefined }[] = [];
  /** Ids by which it was asked whether they have been started. */
  readonly lookedFor: string[] = [];
  readonly lookups = new Map<string, ClusterLookup>();
  readonly lockHolders = new Map<string, string>();
  /** How long clusters took before, and of which it was asked. */
  work: readonly ClusterWork[] = [];
  readonly forecasts: (readonly string[])[] = [];
  /** Upgrades that are under way. */
  readonly running = new FakeRunningUpgrades();
  /** The clusters of the inventory. */
  readonly clusters: ClusterEntryFacts[] = [];
  readonly hosts = new Map<string, E.Either<ManagerSilence, ClusterMember[]>>();
  /** Runs before an upgrade is started: the moment in which a racing request can be first. */
  beforeStart: () => void = () => undefined;
  /** Freezes by their domains; "" is everything. */
  readonly frozen = new Map<string, Freeze>();
  readonly freezes: Freezes = {
    read: (domains) =>
      this.failing.freezes
        ? TE.left(this.failing.freezes)
        : TE.fromIO(() => ["", ...domains].flatMap((domain) => this.frozen.get(domain) ?? [])),
    put: (freeze) => TE.fromIO(() => void this.frozen.set(freeze.domain ?? "", freeze)),
    lift: (domain) => TE.fromIO(() => void this.frozen.delete(domain ?? "")),
  };
  /** Holds by their Workflow IDs. */
  readonly held = new Map<string, Hold>();
  readonly holds: Holds = {
    read: (targets) =>
      this.failing.holds
        ? TE.left(this.failing.holds)
        : TE.fromIO(() => targets.flatMap((target) => this.held.get(holdWorkflowId(target)) ?? [])),
    list: () => (this.failing.holds ? TE.left(this.failing.holds) : TE.fromIO(() => [...this.held.values()])),
    put: (hold, { replaces }) =>
      TE.fromIO(() => {
        if (!replaces && this.held.has(holdWorkflowId(hold))) return "TAKEN";
        this.held.set(holdWorkflowId(hold), hold);
        return "PLACED";
      }),
    release: (target) => TE.fromIO(() => void this.held.delete(holdWorkflowId(target))),
  };
  readonly readiness = new FakeReadiness();
  failing: Partial<
    Record<"catalog" | "inventory" | "start" | "findStarted" | "lockHolders" | "freezes" | "holds", ServiceError>
  > = {};
  private readonly started = new Map<string, { task: Task; requestDigest: string | undefined }>();
  private ids = 0;

  /** Holders with the names that are read with them. */
  private holders(): ReadonlyMap<string, HoldingUpgrade> {
    const names = { upgradeName: "Upgrade fra1-prod to 9.0.2", resourceName: "fra1-prod" };
    return new Map([...this.lockHolders].map(([lock, upgradeId]) => [lock, { upgradeId, ...names }]));
  }

  /** An upgrade that was started elsewhere. */
  startedBefore(id: string, task: Task, requestDigest: string | undefined): void {
    this.started.set(id, { task, requestDigest });
  }

  readonly timers = new ManualTimers();

  get dependencies(): UpgradeServiceDependencies {
    const { failing } = this;
    const or = <A>(error: ServiceError | undefined, answer: () => A): TE.TaskEither<ServiceError, A> =>
      error ? TE.left(error) : TE.fromIO(answer);
    return {
      checkReady: () => TE.left<ServiceError>({ _tag: "Unexpected", cause: "not part of this test" }),
      executions: {
        start: (plan, { requestDigest }) =>
          or(failing.start, () => {
            this.beforeStart();
            if (this.started.has(plan.id)) return "DUPLICATE";
            this.starts.push({ plan, requestDigest });
            this.started.set(plan.id, { task: initialTask(plan), requestDigest });
            return "STARTED";
          }),
        findStarted: (id) =>
          or(failing.findStarted, () => {
            this.lookedFor.push(id);
            return O.fromNullable(this.started.get(id));
          }),
        list: (filter, page) =>
          or(undefined, () => {
            this.lists.push({ filter, page });
            return emptyPage;
          }),
        count: () => or(undefined, () => ({ total: 0, phases: [] })),
        readClusterWork: (ids) => () => {
          this.forecasts.push(ids);
          return Promise.resolve(this.work);
        },
        lockHolders: () => or(failing.lockHolders, () => this.holders()),
        ...this.running.executions,
      },
      freezes: this.freezes,
      holds: this.holds,
      readiness: this.readiness.checks,
      catalog: {
        find: (id) => or(failing.catalog, () => (id === sampleBundle.id ? O.some(sampleBundle) : O.none)),
        list: () => or(failing.catalog, () => [sampleBundle, { id: "second" }, { id: "third" }]),
      },
      inventory: {
        installations: noInstallations,
        clusters: this.clusters,
        openingOf: () => this.opening,
        readHosts: ({ resourceId }) =>
          TE.fromEither(this.hosts.get(resourceId) ?? E.right([{ id: "host-1", fqdn: "esx-1", version: "9.0.0" }])),
        readNetvirtGroups: () => TE.right([]),
        readClusters: (ids) =>
          or(failing.inventory, () => new Map(ids.map((id) => [id, this.lookups.get(id) ?? known(id)]))),
      },
      identities: {
        now: () => now,
        newId: () => `random-${++this.ids}`,
        idFor: (caller, key) => `${caller}/${key}`,
        digest: (value) => JSON.stringify(value),
      },
      resolutionDays: 7,
      lateStartMinutes: 60,
      lockLeadMinutes: 60,
      waits: defaultActivityWaits,
      timers: this.timers,
      watchLimits: { poll: 1000, quiet: 15_000, listeners: 10, listenersPerCaller: 10 },
    };
  }
}

export const emptyPage: PageOfUpgrade = {
  elements: [],
  pageMetadata: { pageNumber: 0, pageSize: 1000, totalElements: 0, totalPages: 0 },
};

function known(id: string): ClusterLookup {
  return { _tag: "Known", facts: sampleCluster(id) };
}

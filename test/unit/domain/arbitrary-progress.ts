import fc from "fast-check";
import type { ErrorBody } from "../../../src/domain/errors";
import { products, resourcesOf, type UpgradePlan } from "../../../src/domain/plan/upgrade-plan";
import type { Stage, StageStatus } from "../../../src/domain/spec/task";
import type { UpgradePhase } from "../../../src/domain/spec/upgrade";
import { type ClusterProgress, clusterStages, type ClusterStageType } from "../../../src/domain/task/cluster-progress";
import { type ClusterHost, hostStages } from "../../../src/domain/task/host-remediation";
import { resourceResultSubTask } from "../../../src/domain/task/resource-progress";
import { stagesOf } from "../../../src/domain/task/resource-stages";
import type { ResourceOutcome } from "../../../src/domain/task/sub-task";
import type { TaskProgress } from "../../../src/domain/task/task-progress";
import { samplePlan } from "../../support/sample-plan";

const phases: readonly UpgradePhase[] = [
  "ACCEPTED",
  "DRAFT_ACCEPTED",
  "DRAFT_PRECHECKS",
  "DRAFT_WAITING",
  "SCHEDULED",
  "RUNNING",
  "PAUSED",
  "SUCCESSFUL",
  "SUCCESSFUL_WITH_WARNING",
  "NOTHING_TO_DO",
  "FAILED",
  "CANCELLED",
];
const outcomes: readonly ResourceOutcome[] = ["SUCCESSFUL", "NOTHING_TO_DO", "FAILED", "CANCELLED", "NOT_BEGUN"];

const start = Date.parse("2026-11-01T00:00:00.000Z");
const hour = 3_600_000;

/** Something that happens, told its time. */
type ProgressEvent<P> = (at: string) => P;

/** Something that may happen, and how often beside the rest. */
interface Weighted<P> {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<ProgressEvent<P>>;
}

/** One of them, more often the heavier ones. */
function oneOf<P>(...happenings: Weighted<P>[]): fc.Arbitrary<ProgressEvent<P>> {
  return fc.oneof(...happenings);
}

/** Happenings in an order of time that never goes back; some share a moment. */
function history<P>(happening: fc.Arbitrary<ProgressEvent<P>>, maxLength: number): fc.Arbitrary<P[]> {
  const step = fc.tuple(fc.nat({ max: hour }), happening);
  return fc.array(step, { maxLength, size: "max" }).map((steps) => {
    let at = start;
    return steps.map(([later, happens]) => happens(new Date((at += later)).toISOString()));
  });
}

const arbitraryError: fc.Arbitrary<ErrorBody> = fc.record({
  message: fc.string({ maxLength: 8 }),
  errorCode: fc.constantFrom("HOST_REMEDIATION_FAILED", "CANCELLED", "UNEXPECTED", "MGMT_INSTALL_FAILED"),
});

const optionalError = fc.option(arbitraryError, { nil: undefined });

/** Stages of which each may stand anywhere, as a component that ended in the middle reports them. */
function stages(names: Readonly<Record<string, string>>, statuses: readonly StageStatus[]) {
  const standing = fc.constantFrom(...statuses);
  const all = Object.keys(names).length;
  return fc.tuple(fc.array(standing, { minLength: all, maxLength: all }), arbitraryError).map(
    ([standings, error]) =>
      (at: string): Stage[] =>
        stagesOf(names, at).map((stage, i) => {
          const status = standings[i] ?? "PENDING";
          const ended = status === "SUCCESSFUL" || status === "FAILED";
          return {
            ...stage,
            status,
            ...(ended && { completionTimestamp: at }),
            ...(status === "FAILED" && { errors: [error] }),
          };
        }),
  );
}

const checks = { HOSTS_CONNECTED: "Hosts connected", DISK_SPACE: "Disk space" };

/** Plans of one to three clusters. */
export const arbitraryPlan: fc.Arbitrary<UpgradePlan> = fc
  .record({ clusters: fc.integer({ min: 1, max: 3 }), draft: fc.boolean() })
  .map(({ clusters, draft }) =>
    samplePlan({
      id: "11111111-1111-4111-8111-111111111111",
      draft,
      now: start,
      resources: Array.from({ length: clusters }, (_, i) => ({ resourceId: `cl-${i}` })),
    }),
  );

/** Anything that can be said of an upgrade of this plan, in any order, with what cannot happen among it. */
export function arbitraryTaskProgress(plan: UpgradePlan): fc.Arbitrary<TaskProgress[]> {
  const clusters = resourcesOf(plan);
  const cluster = fc.constantFrom(...clusters);
  const some = fc.subarray([...clusters]);
  const product = fc.constantFrom(...products);
  const counts = fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4), fc.nat(4));
  const happening = oneOf<TaskProgress>(
    // A Task that ends early lets nothing else happen.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...phases), fc.array(arbitraryError, { maxLength: 2 }))
        .map(([phase, errors]) => (at) => ({ type: "PhaseEntered", phase, errors, at })),
    },
    { weight: 2, arbitrary: some.map((checked) => (at) => ({ type: "PrechecksStarted", resources: checked, at })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(cluster, stages(checks, ["SUCCESSFUL", "FAILED"]))
        .map(([{ resourceId }, checked]) => (at) => ({
          type: "ResourcePrechecked",
          resourceId,
          stages: checked(at),
          at,
        })),
    },
    { weight: 1, arbitrary: fc.constant((at) => ({ type: "PrechecksEnded", at })) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom("ProductStarted" as const, "ProductEnded" as const), product)
        .map(([type, which]) => (at) => ({ type, product: which, at })),
    },
    { weight: 3, arbitrary: cluster.map(({ resourceId }) => (at) => ({ type: "ResourceStarted", resourceId, at })) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(cluster, fc.constantFrom(...outcomes), counts, optionalError)
        .map(([which, outcome, [upgraded, skipped, failed, left], error]) => (at) => ({
          type: "ResourceChanged",
          resourceId: which.resourceId,
          subTask: resourceResultSubTask(
            which,
            {
              outcome,
              hosts: { total: upgraded + skipped + failed + left, upgraded, skipped, failed, left },
              ...(error && { error }),
            },
            plan.creationTimestamp,
            at,
          ),
          at,
        })),
    },
    { weight: 1, arbitrary: some.map((resources) => (at) => ({ type: "RetryStarted", resources, at })) },
    { weight: 1, arbitrary: fc.boolean().map((resolved) => (at) => ({ type: "ResolutionEnded", resolved, at })) },
  );
  return history(happening, 40);
}

const hostIds = ["host-1", "host-2", "host-3", "host-4"];

const arbitraryHosts: fc.Arbitrary<ClusterHost[]> = fc.subarray(hostIds).chain((hosts) =>
  fc.tuple(
    ...hosts.map((host) =>
      fc.record({
        host: fc.constant(host),
        fqdn: fc.constant(`${host}.example.com`),
        version: fc.constantFrom("9.0.0-0.24755229", ""),
        atTarget: fc.boolean(),
      }),
    ),
  ),
);

/** Anything that can be said of a cluster, in any order, with what cannot happen among it. */
export const arbitraryClusterProgress: fc.Arbitrary<ClusterProgress[]> = history(
  oneOf<ClusterProgress>(
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.constantFrom("StageStarted" as const, "StageSucceeded" as const),
          fc.constantFrom(...(Object.keys(clusterStages) as ClusterStageType[])),
        )
        .map(([type, stage]) => (at) => ({ type, stage, at })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...(Object.keys(clusterStages) as ClusterStageType[])), arbitraryError)
        .map(([stage, error]) => (at) => ({ type: "StageFailed", stage, error, at })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(arbitraryHosts, fc.subarray(hostIds))
        .map(([hosts, upgradedBefore]) => (at) => ({ type: "HostsRead", hosts, upgradedBefore, at })),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(...hostIds).map((host) => (at) => ({ type: "HostStarted", host, at })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...hostIds), stages(hostStages, ["SUCCESSFUL"]))
        .map(([host, done]) => (at) => ({
          type: "HostSucceeded",
          host,
          result: { host, outcome: "UPGRADED", version: "9.0.2-0.25148076", stages: done(at) },
          at,
        })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...hostIds),
          arbitraryError,
          fc.option(stages(hostStages, ["PENDING", "IN_PROGRESS", "SUCCESSFUL", "FAILED"]), { nil: undefined }),
        )
        .map(([host, error, reached]) => (at) => ({
          type: "HostFailed",
          host,
          error,
          ...(reached && { stages: reached(at) }),
          at,
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...outcomes), optionalError)
        .map(([outcome, error]) => (at) => ({ type: "Ended", outcome, ...(error && { error }), at })),
    },
  ),
  40,
);

/** The value itself, of which nothing can be changed from here on. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

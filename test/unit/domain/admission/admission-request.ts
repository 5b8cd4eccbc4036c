import * as O from "fp-ts/Option";
import type { AdmissionRequest, AdmissionRule } from "../../../../src/domain/admission/admission-rule";
import type { ClusterFacts, ClusterLookup, Installations } from "../../../../src/domain/plan/facts";
import type { HoldingUpgrade } from "../../../../src/domain/resource-lock";
import type { Bundle } from "../../../../src/domain/spec/bundle";
import type { ResourceUpgradeSpec, UpgradeSpec } from "../../../../src/domain/spec/upgrade-spec";
import { noInstallations, sampleBundle, sampleCluster } from "../../../support/sample-plan";

/** The moment at which the requests of these tests are judged. */
export const now = Date.parse("2026-11-01T12:00:00.000Z");

export interface RequestChanges {
  readonly spec?: Partial<UpgradeSpec>;
  readonly resources?: readonly Partial<ResourceUpgradeSpec>[];
  /** What is known of every cluster of the request. */
  readonly cluster?: Partial<ClusterFacts>;
  /** What is known of single clusters instead. */
  readonly lookups?: Readonly<Record<string, ClusterLookup>>;
  /** Null where the catalog does not know it. */
  readonly bundle?: Bundle | null;
  /** Hosts of clusters, by their resource ids. */
  readonly hosts?: AdmissionRequest["hosts"];
  readonly installations?: Partial<Installations>;
  /** By lock. Each by its id, or with the names that are known. */
  readonly lockHolders?: Readonly<Record<string, string | HoldingUpgrade>>;
}

/** A request that every rule admits, but for the given changes. */
export function admissionRequest(changes: RequestChanges = {}): AdmissionRequest {
  const resources = (changes.resources ?? [{}]).map((resource, i) => ({ resourceId: `c${i}`, ...resource }));
  const bundle = changes.bundle === undefined ? sampleBundle : changes.bundle;
  const known = resources.map(({ resourceId }): [string, ClusterLookup] => [
    resourceId,
    { _tag: "Known", facts: sampleCluster(resourceId, changes.cluster) },
  ]);
  return {
    spec: {
      bundleId: bundle?.id ?? "no-such-bundle",
      resourceType: "CLUSTER",
      resourceUpgradeSpecs: resources,
      ...changes.spec,
    },
    now,
    bundle: O.fromNullable(bundle),
    clusters: new Map([...known, ...Object.entries(changes.lookups ?? {})]),
    installations: { ...noInstallations, ...changes.installations },
    ...(changes.hosts && { hosts: changes.hosts }),
    lockLeadMinutes: 60,
    lockHolders: new Map(
      Object.entries(changes.lockHolders ?? {}).map(([lock, holder]) => [
        lock,
        typeof holder === "string" ? { upgradeId: holder } : holder,
      ]),
    ),
  };
}

/** What a rule refuses, as `effect code path`. */
export function refusals(rule: AdmissionRule, changes?: RequestChanges): string[] {
  return rule(admissionRequest(changes)).map(({ effect, code, path }) => `${effect} ${code} ${path}`);
}

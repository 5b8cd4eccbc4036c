import type { ClusterHost, HostResult } from "../src/domain/host-remediation";
import type {
  ClusterPrechecks,
  ClusterTarget,
  DesiredImage,
  HostBefore,
  PolicyChange,
  RecordedPolicy,
  RemediateHostInput,
  RemediationPolicy,
} from "./contract";
import type { Patience } from "./patience";

/** A cluster's part of an Activity: its target, and how long it may wait. */
type Step<A> = (patience: Patience, target: ClusterTarget) => Promise<A>;

/** How clusters of one kind are upgraded: the bodies of the cluster Activities, which are the same for every kind. */
export interface ClusterWork {
  runPrechecks(target: ClusterTarget): Promise<ClusterPrechecks>;
  readonly readHosts: Step<ClusterHost[]>;
  readonly readPolicy: Step<RecordedPolicy>;
  putPolicy(patience: Patience, input: ClusterTarget & PolicyChange): Promise<void>;
  restorePolicy(patience: Patience, input: ClusterTarget & { previous: RemediationPolicy }): Promise<void>;
  readonly setDesiredImage: Step<DesiredImage>;
  readHostBefore(
    patience: Patience,
    input: ClusterTarget & { host: Pick<ClusterHost, "host" | "fqdn"> },
  ): Promise<HostBefore>;
  remediateHost(input: RemediateHostInput): Promise<HostResult>;
}

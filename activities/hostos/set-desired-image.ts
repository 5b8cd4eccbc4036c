import { completeTask, reasonsOf } from "../complete-task";
import type { ClusterTarget, DesiredImage } from "../contract";
import { DriverError, isNotFound } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { ClusterCompliance } from "../drivers/vlcm/vlcm-models";
import { scanCluster } from "../host-assessment";
import { withOwnDraft } from "../own-draft";
import type { RetryPolicy } from "../retry-policy";
import { describeImage, isDesired, isJudgedBy } from "../target-image";

/** Rounds in which a draft may be lost to somebody else before that is an error. */
const maximumRounds = 5;

/**
 * Brings the desired image of a cluster to the target. Whatever an earlier run got done is found in the cluster
 * itself: the desired image is read first and last, and a draft that was left behind is replaced.
 */
export async function setDesiredImage(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  target: ClusterTarget,
): Promise<DesiredImage> {
  const { cluster } = target.cluster;
  let committed: { readonly commit?: string } | undefined;
  let lost: unknown;
  for (let round = 0; round <= maximumRounds; round++) {
    if (isDesired(await retryPolicy.retry(() => client.readDesiredImage(cluster)), target)) {
      const commit = committed?.commit ?? (await readCommit(client, retryPolicy, target));
      return { changed: round > 0, ...(commit !== undefined && { commit }) };
    }
    try {
      committed = await withOwnDraft(client, retryPolicy, cluster, target, (draft) =>
        commit(client, retryPolicy, { cluster, draft }, target),
      );
    } catch (error) {
      // A precheck of the cluster by another worker has deleted the draft, or an unanswered commit has used it up.
      if (!isNotFound(error)) throw error;
      lost = error;
      await retryPolicy.pause(round);
    }
  }
  throw new DriverError({
    kind: "permanent",
    code: "DESIRED_IMAGE_NOT_SET",
    message: `The desired image of cluster ${cluster} could not be made ${describeImage(target)}: the draft or the image was not found.`,
    remediation: `Check that ${client.id} has image ${describeImage(target)} and that nobody else edits the cluster's image.`,
    ...(lost instanceof DriverError && { causes: lost.causes }),
  });
}

async function commit(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  { cluster, draft }: { readonly cluster: string; readonly draft: string },
  target: ClusterTarget,
): Promise<{ readonly commit?: string }> {
  const image = describeImage(target);
  const id = await retryPolicy.retry(() => client.commitDraft(cluster, draft, `Image ${image}`));
  const task = await completeTask(client, retryPolicy, id);
  if (task?.status === "FAILED") {
    const reasons = reasonsOf(task);
    throw new DriverError({
      kind: "transient",
      code: "DESIRED_IMAGE_COMMIT_FAILED",
      message: `${client.id} could not commit image ${image} for cluster ${cluster}${reasons[0] ? `: ${reasons[0]}` : "."}`,
      remediation: "Resolve what the component manager reports for the cluster's image, then retry the upgrade.",
      causes: reasons,
    });
  }
  return typeof task?.result === "string" ? { commit: task.result } : {};
}

/** The commit of the desired image, from a scan by it; undefined where the cluster cannot be scanned now. */
async function readCommit(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  target: ClusterTarget,
): Promise<string | undefined> {
  const { cluster } = target.cluster;
  const isCurrent = (scanned: ClusterCompliance | undefined) =>
    Object.values(scanned?.hosts ?? {}).some((host) => isJudgedBy(host, target));
  const last = await retryPolicy.retry(() => client.readCompliance(cluster));
  if (last && isCurrent(last)) return last.commit;
  try {
    const scanned = await scanCluster(client, retryPolicy, cluster);
    return isCurrent(scanned) ? scanned?.commit : undefined;
  } catch (error) {
    if (error instanceof DriverError) return undefined;
    throw error;
  }
}

import { completeTask, reasonsOf } from "../../complete-task";
import type { ClusterTarget, DesiredImage } from "../../contract";
import { DriverError, isNotFound } from "../../drivers/driver-error";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import { type ClusterCompliance, Notifications, textsOf } from "../../drivers/vlcm/vlcm-models";
import { createRetryPolicy, type RetryPolicy } from "../../retry-policy";
import { scanCluster } from "./assess-hosts";
import { describeImage, isDesired, isJudgedBy, softwareSpecOf, type TargetImage } from "./target-image";

/** Rounds in which a draft may be lost to somebody else before that is an error. */
const maximumCommits = 5;

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
  for (let round = 0; round <= maximumCommits; round++) {
    if (isDesired(await retryPolicy.retry(() => client.readDesiredImage(cluster)), target)) {
      const commit = committed?.commit ?? (await readCommit(client, retryPolicy, target));
      return { changed: round > 0, ...(commit !== undefined && { commit }) };
    }
    try {
      committed = await withExclusiveDraft(client, retryPolicy, cluster, target, (draft) =>
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
    message: `The desired image of cluster ${cluster} could not be set to ${describeImage(target)}: the draft or the image was not found.`,
    remediation: `Check that ${client.id} has image ${describeImage(target)} and that no one else is editing the cluster's image.`,
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

/** How long a draft that is not needed any more is tried to be deleted; whoever makes the next one deletes it otherwise. */
const cleanUp = 10_000;
/** How often a draft is tried to be made where another worker has made one in the meantime. */
const maximumDrafts = 5;

/**
 * Lets `use` do what it wants with a valid draft of the target, which is nobody else's meanwhile. It is deleted where that
 * fails. Throws where the component manager does not find the target valid, and not found where another worker has
 * replaced the draft by its own.
 */
export async function withExclusiveDraft<A>(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  target: TargetImage,
  use: (draft: string) => Promise<A>,
): Promise<A> {
  const turn = client.draftMutex.take(cluster);
  try {
    await retryPolicy.retry(() => turn.hasCome);
    const draft = await createExclusiveDraft(client, retryPolicy, cluster, target);
    try {
      await completeDraft(client, retryPolicy, { cluster, draft }, target);
      return await use(draft);
    } catch (error) {
      await discardDraft(client, retryPolicy, cluster, draft);
      throw error;
    }
  } finally {
    turn.end();
  }
}

/**
 * Makes a draft of a cluster's desired image for {@link completeDraft}. A user has one draft at most: one of ours that a lost worker left behind
 * is deleted first, never used, because nobody knows what it holds.
 */
async function createExclusiveDraft(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  { targetVersion, image }: TargetImage,
): Promise<string> {
  for (let round = 0; ; round++) {
    try {
      if (image) {
        const specification = softwareSpecOf({ targetVersion, image });
        return await retryPolicy.retry(() => client.importDraft(cluster, specification));
      }
      return await retryPolicy.retry(() => client.createDraft(cluster));
    } catch (error) {
      if (!(error instanceof DriverError) || error.code !== "ALREADY_EXISTS" || round === maximumDrafts) throw error;
      // From the second time on somebody else is at it.
      if (round > 0) await retryPolicy.pause(round - maximumDrafts);
      await deleteExclusiveDrafts(client, retryPolicy, cluster, error);
    }
  }
}

async function deleteExclusiveDrafts(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  because: DriverError,
): Promise<void> {
  const user = accountOf(await retryPolicy.retry(() => client.readUser()));
  const drafts = await retryPolicy.retry(() => client.listDrafts(cluster));
  const own = drafts.filter(({ owner }) => accountOf(owner) === user);
  if (own.length === 0 && drafts.length > 0) {
    throw new DriverError({
      kind: "permanent",
      code: "DRAFT_HELD_BY_OTHER",
      message: `Cluster ${cluster} has a draft image of ${drafts.map(({ owner }) => owner).join(", ")}.`,
      remediation: "Commit or delete that draft in the component manager, then retry the upgrade.",
      causes: because.causes,
    });
  }
  for (const { draft } of own) await deleteDraft(client, retryPolicy, cluster, draft);
}

/** Deletes a draft that is not needed any more, also where the Activity is to stop. What fails is left to the next draft. */
export async function discardDraft(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  draft: string,
): Promise<void> {
  const bounds = { ...retryPolicy.bounds, outage: cleanUp, operationBusy: cleanUp };
  const persistent = createRetryPolicy(bounds, { stage: retryPolicy.stage, interruption: () => undefined });
  await deleteDraft(client, persistent, cluster, draft).catch(() => undefined);
}

/** Deletes a draft that may be gone already. */
async function deleteDraft(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  draft: string,
): Promise<void> {
  try {
    await retryPolicy.retry(() => client.deleteDraft(cluster, draft));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Makes a new draft the target and has the component manager validate it. Throws where it is not valid. */
async function completeDraft(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  { cluster, draft }: { readonly cluster: string; readonly draft: string },
  target: TargetImage,
): Promise<void> {
  // An imported one is it already.
  if (!target.image) await retryPolicy.retry(() => client.putDraftBaseImage(cluster, draft, target.targetVersion));
  const id = await retryPolicy.retry(() => client.validateDraft(cluster, draft));
  const task = await completeTask(client, retryPolicy, id);
  // Forgotten: the commit will judge it.
  if (!task) return;
  const found = Notifications.is(task.result) ? textsOf(task.result.errors) : [];
  if (task.status === "SUCCEEDED" && found.length === 0) return;
  const reasons = found.length > 0 ? found : reasonsOf(task);
  throw new DriverError({
    kind: "permanent",
    code: "TARGET_IMAGE_INVALID",
    message: `${client.id} rejected image ${describeImage(target)} for cluster ${cluster}${reasons[0] ? `: ${reasons[0]}` : "."}`,
    remediation: `Import the depot that holds ${describeImage(target)} into the component manager and resolve what it reports, then retry.`,
    causes: reasons,
  });
}

/** One account in its two spellings: `DOMAIN\user` and `user@domain`. */
function accountOf(name: string): string {
  const [, domain, user] = /^(.*)\\(.*)$/.exec(name) ?? [];
  return (user === undefined ? name : `${user}@${domain}`).toLowerCase();
}

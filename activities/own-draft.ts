import { DriverError, isNotFound } from "./drivers/driver-error";
import type { VlcmClient } from "./drivers/vlcm/vlcm-client";
import { completeTask, reasonsOf } from "./complete-task";
import { textsOf, Notifications } from "./drivers/vlcm/vlcm-models";
import { createRetryPolicy, type RetryPolicy } from "./retry-policy";
import { describeImage, softwareSpecOf, type TargetImage } from "./target-image";

/** How long a draft that is not needed any more is tried to be deleted; whoever makes the next one deletes it otherwise. */
const cleanUp = 10_000;
/** How often a draft is tried to be made where another worker has made one in the meantime. */
const maximumRounds = 5;

/**
 * Lets `use` do what it wants with a valid draft of the target, which is nobody else's meanwhile. It is deleted where that
 * fails. Throws where the component manager does not find the target valid, and not found where another worker has
 * replaced the draft by its own.
 */
export async function withOwnDraft<A>(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  cluster: string,
  target: TargetImage,
  use: (draft: string) => Promise<A>,
): Promise<A> {
  const turn = client.draftTurns.take(cluster);
  try {
    await retryPolicy.retry(() => turn.hasCome);
    const draft = await createOwnDraft(client, retryPolicy, cluster, target);
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
async function createOwnDraft(
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
      if (!(error instanceof DriverError) || error.code !== "ALREADY_EXISTS" || round === maximumRounds) throw error;
      // From the second time on somebody else is at it.
      if (round > 0) await retryPolicy.pause(round - maximumRounds);
      await deleteOwnDrafts(client, retryPolicy, cluster, error);
    }
  }
}

async function deleteOwnDrafts(
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
    message: `${client.id} does not accept image ${describeImage(target)} for cluster ${cluster}${reasons[0] ? `: ${reasons[0]}` : "."}`,
    remediation: `Import the depot that holds ${describeImage(target)} into the component manager and resolve what it reports, then retry.`,
    causes: reasons,
  });
}

/** One account in its two spellings: `DOMAIN\user` and `user@domain`. */
function accountOf(name: string): string {
  const [, domain, user] = /^(.*)\\(.*)$/.exec(name) ?? [];
  return (user === undefined ? name : `${user}@${domain}`).toLowerCase();
}

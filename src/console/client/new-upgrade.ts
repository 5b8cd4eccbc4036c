import { computed, signal } from "@preact/signals";
import type { ErrorBody } from "../../domain/errors";
import { UpgradePreview } from "../../domain/plan/preview";
import type { Cluster } from "../../domain/spec/cluster";
import { Task } from "../../domain/spec/task";
import { repeatRequest } from "../../domain/plan/repeat-request";
import { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { pathWritten, valueAt } from "../model/field-path";
import { formOf, formPathOf, problemsOfError, requestOf, type RequestProblem } from "../model/form-request";
import { emptyForm, type UpgradeForm } from "../model/upgrade-form";
import { askApi } from "./ask-api";
import { IdempotencyKey } from "./idempotency-key";
import { ApiFailure, errorBodyOf } from "./send-request";

/** What is filled in. Kept while other pages are looked at, such as the upgrade that holds a cluster. */
export const upgradeForm = signal<UpgradeForm>(emptyForm);

/** The clusters of the inventory as they were read last: what is sent for a cluster depends on its kind. */
export const knownClusters = signal<readonly Cluster[]>([]);

/** The request of the form, or what is missing or wrong. */
export const request = computed(() => requestOf(upgradeForm.value, knownClusters.value));

/** The last answer that was an error, with the form that it is about. */
const refused = signal<{ readonly error: ErrorBody; readonly form: UpgradeForm } | undefined>(undefined);

/** The last plan, with the request that it is of. */
const planned = signal<{ readonly preview: UpgradePreview; readonly text: string } | undefined>(undefined);

/** Whether somebody has asked for a plan: before, what is not filled in yet is no mistake. */
const wasAsked = signal(false);

/** Whether an answer is awaited. */
export const isAsking = signal(false);

const textOf = (spec: UpgradeSpec) => JSON.stringify(spec);

/** The plan of the request as it is now, where it has been asked for. */
export const plan = computed(() =>
  request.value._tag === "Right" && planned.value?.text === textOf(request.value.right)
    ? planned.value.preview
    : undefined,
);

/** The error of the last question, where nothing has been changed since. */
export const failure = computed(() => (refused.value?.form === upgradeForm.value ? refused.value.error : undefined));

/** A problem at a written path of the form, `at`. */
export interface FieldError extends RequestProblem {
  readonly at: string;
}

/** What is wrong with which field; a problem that the service told is gone when its field is changed. */
export const problems = computed<readonly FieldError[]>(() => {
  const form = upgradeForm.value;
  if (request.value._tag === "Left")
    return wasAsked.value
      ? request.value.left.map((each) => ({ ...each, at: formPathOf(form, each.path) })).filter(isFirst)
      : [];
  if (!refused.value) return [];
  const { error, form: before } = refused.value;
  return problemsOfError(error)
    .map((each) => ({ ...each, at: formPathOf(before, each.path) }))
    .filter(({ at }) => valueAt(before, pathWritten(at)) === valueAt(form, pathWritten(at)))
    .filter(isFirst);
});

/** Clusters that share a field share its problem too. */
function isFirst({ at, message }: FieldError, index: number, all: readonly FieldError[]): boolean {
  return all.findIndex((other) => other.at === at && other.message === message) === index;
}

/** Asks the service what it would do. Resolves when there is a plan or a problem. */
export async function askForPlan(): Promise<void> {
  wasAsked.value = true;
  const now = request.value;
  if (now._tag === "Left") return;
  await asking(async () => {
    const preview = await askApi(UpgradePreview, { method: "POST", path: "/v1/upgrades/preview", body: now.right });
    planned.value = { preview, text: textOf(now.right) };
  });
}

/** Starts what the plan shows. Resolves with the id of the upgrade, or undefined where it was refused or is not known. */
export async function startUpgrade(): Promise<string | undefined> {
  const now = request.value;
  if (now._tag === "Left" || !plan.value) return undefined;
  let id: string | undefined;
  await asking(async () => {
    const headers = { "idempotency-key": key.of(textOf(now.right)) };
    const task = await askApi(Task, { method: "POST", path: "/v1/upgrades", body: now.right, headers });
    id = task.id;
  });
  if (id !== undefined) startAfresh();
  return id;
}

/**
 * Fills the form with what an earlier upgrade was asked for: as a draft that begins when it is committed, because its times
 * were those of then. Rejects where that cannot be read or shown.
 */
export async function fillLike(id: string): Promise<void> {
  const earlier = await askApi(UpgradeSpec, { path: `/v1/upgrades/${encodeURIComponent(id)}/request` });
  const form = formOf(repeatRequest(earlier, { isDraft: true, begin: { upgradeNow: true } }), knownClusters.value);
  if (form._tag === "Left") throw new ApiFailure({ message: form.left });
  startAfresh(form.right);
}

/** Fills the form with a request, or (without one) empties it. */
export function startAfresh(form: UpgradeForm = emptyForm): void {
  upgradeForm.value = form;
  refused.value = planned.value = undefined;
  key.forget();
  wasAsked.value = false;
}

const key = new IdempotencyKey();

async function asking(work: () => Promise<void>): Promise<void> {
  // A double click is one question.
  if (isAsking.value) return;
  isAsking.value = true;
  const form = upgradeForm.value;
  refused.value = undefined;
  try {
    await work();
  } catch (thrown) {
    refused.value = { error: errorBodyOf(thrown), form };
  }
  isAsking.value = false;
}

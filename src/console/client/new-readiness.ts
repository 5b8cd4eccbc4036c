import { computed, signal } from "@preact/signals";
import type { ErrorBody } from "../../domain/errors";
import { Task } from "../../domain/spec/task";
import { type FieldPath, pathWritten, valueAt, withValueAt } from "../model/field-path";
import { problemsOfError } from "../model/form-request";
import { zoneName } from "../model/local-time";
import { type ReadinessForm, readinessPathOf, readinessRequestOf } from "../model/readiness-form";
import { askApi } from "./ask-api";
import { IdempotencyKey } from "./idempotency-key";
import type { FieldError } from "./new-upgrade";
import { errorBodyOf } from "./send-request";

const emptyForm: ReadinessForm = { bundleId: "", clusters: [], repeat: "ONCE", time: "02:00", timeZone: zoneName() };

/** What is filled in. Bundle and clusters stay after a check has started: the next one is often of the same. */
export const readinessForm = signal(emptyForm);

/** Whether an answer is awaited. */
export const isStarting = signal(false);

/** The last answer that was an error, with the form that it is about. */
const refused = signal<{ readonly error: ErrorBody; readonly form: ReadinessForm } | undefined>(undefined);

/** Whether somebody has tried to start it: before, what is not filled in yet is no mistake. */
const wasAsked = signal(false);

/** The error of the last try, where nothing has been changed since. */
export const refusal = computed(() => (refused.value?.form === readinessForm.value ? refused.value.error : undefined));

/** What is wrong with which field; a problem that the service told is gone when its field is changed. */
export const readinessProblems = computed<readonly FieldError[]>(() => {
  const form = readinessForm.value;
  const request = readinessRequestOf(form);
  if (request._tag === "Left") return wasAsked.value ? request.left.map((each) => ({ ...each, at: each.path })) : [];
  if (!refused.value) return [];
  const { error, form: before } = refused.value;
  return problemsOfError(error)
    .map((each) => ({ ...each, at: readinessPathOf(each.path) }))
    .filter(({ at }) => valueAt(before, pathWritten(at)) === valueAt(form, pathWritten(at)));
});

/** Puts another value into the form; undefined takes it away. */
export function changeReadiness(path: FieldPath, value: unknown): void {
  readinessForm.value = withValueAt(readinessForm.value, path, value) as ReadinessForm;
}

const key = new IdempotencyKey();

/** Starts the check of the form. Resolves with the id of its Task, or undefined where it was refused or is not known. */
export async function startReadiness(): Promise<string | undefined> {
  wasAsked.value = true;
  const form = readinessForm.value;
  const request = readinessRequestOf(form);
  // A double click is one check.
  if (request._tag === "Left" || isStarting.value) return undefined;
  isStarting.value = true;
  refused.value = undefined;
  try {
    const body = request.right;
    const headers = { "idempotency-key": key.of(JSON.stringify(body)) };
    const { id } = await askApi(Task, { method: "POST", path: "/v1/prechecks", body, headers });
    key.forget();
    wasAsked.value = false;
    readinessForm.value = { ...form, repeat: "ONCE" };
    return id;
  } catch (thrown) {
    refused.value = { error: errorBodyOf(thrown), form };
    return undefined;
  } finally {
    isStarting.value = false;
  }
}

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type FieldPath, parentPath } from "../model/field-path";
import type { RequestProblem } from "../model/form-request";
import { type KnownIds, noIds } from "../model/known-ids";
import { emptyForm, type UpgradeForm } from "../model/upgrade-form";

/** What every field of the form needs: the form, a way to change it, and what is wrong. */
interface FormHandle {
  readonly form: UpgradeForm;
  /** Undefined takes the value away. */
  readonly change: (path: FieldPath, value: unknown) => void;
  /** What is wrong at a written path of the form. */
  readonly problemAt: (path: string) => RequestProblem | undefined;
  /** What the service has for fields that take an id. */
  readonly ids: KnownIds;
}

/** Gives the form to every field in it; outside of one it is empty and does not change. */
export const FormContext = createContext<FormHandle>({
  form: emptyForm,
  change: () => undefined,
  problemAt: () => undefined,
  ids: noIds,
});

/** The form that a field belongs to. */
export const useForm = () => useContext(FormContext);

/** The id of the element that shows a written path of the form. */
export function fieldId(path: string): string {
  return `field-${path}`;
}

/** What shows a path, or the nearest that it is part of, with everything opened that hides it. */
export function revealField(path: string): HTMLElement | undefined {
  for (let at = path; at !== ""; at = parentPath(at)) {
    const element = document.getElementById(fieldId(at));
    if (!element) continue;
    for (let outer: Element | null = element; outer; outer = outer.parentElement)
      if (outer instanceof HTMLDetailsElement) outer.open = true;
    return element;
  }
  return undefined;
}

import type { AnyWords } from "../words/field-words";
import { fieldId, useForm } from "./form-context";

interface FieldNotesProps {
  /** Written path within the form. */
  readonly path: string;
  readonly words: Pick<AnyWords, "label" | "hint">;
}

/** The hint of a field and what is wrong with it. An input is described by both: see `describedBy`. */
export function FieldNotes({ path, words: { label, hint } }: FieldNotesProps) {
  const problem = useForm().problemAt(path);
  const id = fieldId(path);
  return (
    <>
      {hint !== "" && (
        <span id={`${id}-hint`} class="small">
          {hint}
        </span>
      )}
      {problem && (
        <span id={`${id}-error`} class="field-error">
          {problem.message.replaceAll(problem.path, label)}
          {problem.remediation !== undefined && ` ${problem.remediation.replaceAll(problem.path, label)}`}
        </span>
      )}
    </>
  );
}

/** What ties a group of fields to its notes. */
export function useGroupDescription(path: string) {
  const { "aria-invalid": _ofInputs, ...group } = useDescription(path);
  return { ...group, tabIndex: -1 } as const;
}

/** What ties an input to its notes and tells that it is wrong. */
export function useDescription(path: string) {
  const id = fieldId(path);
  const isWrong = useForm().problemAt(path) !== undefined;
  return {
    id,
    "aria-describedby": isWrong ? `${id}-hint ${id}-error` : `${id}-hint`,
    "aria-invalid": isWrong,
  } as const;
}

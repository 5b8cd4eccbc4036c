import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { valueAt, writtenPath, type FieldPath } from "../model/field-path";
import type { AnyWords } from "../words/field-words";
import { FieldNotes, useGroupDescription } from "./field-notes";
import { fieldId, useForm } from "./form-context";

interface SpecListProps {
  readonly path: FieldPath;
  readonly words: AnyWords;
  /** The fields of the element at a path. */
  readonly fieldsAt: (path: FieldPath) => ComponentChildren;
}

/** A field that is a list: its elements, each with a way to take it away, and a way to add one. */
export function SpecList({ path, words, fieldsAt }: SpecListProps) {
  const { form, change } = useForm();
  const list = useRef<HTMLFieldSetElement>(null);
  const added = useRef(false);
  const value = valueAt(form, path);
  const group = useGroupDescription(writtenPath(path));
  const elements: readonly unknown[] = Array.isArray(value) ? value : [];
  const { element = "one", empty, label } = words;
  useEffect(() => {
    // Whoever adds an element wants to fill it in.
    if (added.current) list.current?.querySelector<HTMLElement>(".element:last-of-type :is(input, select)")?.focus();
    added.current = false;
  }, [elements.length]);
  const remove = (index: number) => {
    const left = elements.filter((_, i) => i !== index);
    change(path, left.length > 0 ? left : undefined);
    // The button that was pressed is gone.
    list.current?.focus();
  };
  return (
    <fieldset ref={list} {...group} class={value === undefined ? "" : "set"}>
      <legend>{label}</legend>
      <FieldNotes path={writtenPath(path)} words={words} />
      {elements.map((_, i) => (
        <fieldset key={i} class="element" id={fieldId(writtenPath([...path, i]))} tabIndex={-1}>
          <legend>
            {label} {i + 1}
          </legend>
          {fieldsAt([...path, i])}
          <button type="button" onClick={() => remove(i)}>
            Remove {label} {i + 1}
          </button>
        </fieldset>
      ))}
      <div class="buttons">
        <button
          type="button"
          onClick={() => {
            added.current = true;
            change(path, [...elements, {}]);
          }}
        >
          Add {element}
        </button>
        {empty !== undefined && elements.length === 0 && (
          <label class="check">
            <input
              type="checkbox"
              checked={value !== undefined}
              onChange={(event) => change(path, event.currentTarget.checked ? [] : undefined)}
            />
            {empty}
          </label>
        )}
      </div>
    </fieldset>
  );
}

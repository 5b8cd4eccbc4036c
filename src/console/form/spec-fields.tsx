import type * as t from "io-ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Shape, shapeOf } from "../../domain/codec";
import { utcMinute } from "../../domain/timestamp";
import type { AnyWords } from "../labels/field-labels";
import { type FieldPath, valueAt, writtenPath } from "../model/field-path";
import type { Suggestion } from "../model/known-ids";
import { localTimeOf, timestampOf } from "../model/local-time";
import { fieldId, useForm } from "./form-context";

interface SpecFieldsProps {
  readonly path: FieldPath;
  /** Of the model whose fields these are. */
  readonly codec: t.Mixed;
  readonly words: Readonly<Record<string, AnyWords>>;
  /** Shows these fields only. */
  readonly only?: readonly string[];
  /** By the name of a field: what there is to choose from. Without it a text is typed. */
  readonly suggestions?: Readonly<Record<string, readonly Suggestion[]>>;
  /** By the name of a field: its value when it has been emptied, instead of none. */
  readonly emptied?: Readonly<Record<string, unknown>>;
}

/** The fields of a model, derived from its codec: single ones side by side, then those that consist of others. */
export function SpecFields({ path, codec, words, only, suggestions = {}, emptied = {} }: SpecFieldsProps) {
  const shape = shapeOf(codec);
  const fields: t.Props = shape.kind === "object" ? { ...shape.required, ...shape.optional } : {};
  const all = Object.entries(words).flatMap(([name, its]) => {
    const field = fields[name];
    return field && (only === undefined || only.includes(name)) ? [{ name, its, field, at: [...path, name] }] : [];
  });
  const single = all.filter(({ field }) => isSingle(shapeOf(field)));
  return (
    <>
      {single.length > 0 && (
        <div class="spec-fields">
          {single.map(({ name, its, field, at }) => (
            <SpecField
              key={name}
              path={at}
              codec={field}
              words={its}
              emptied={emptied[name]}
              {...(suggestions[name] && { suggestions: suggestions[name] })}
            />
          ))}
        </div>
      )}
      {all.map(({ name, its, field, at }) => {
        const inner = shapeOf(field);
        if (isSingle(inner)) return null;
        const element = elementOf(inner);
        if (!element) return <SpecGroup key={name} path={at} codec={field} words={its} />;
        const fieldsAt = (place: FieldPath) => <SpecFields path={place} codec={element} words={its.fields ?? {}} />;
        return <SpecList key={name} path={at} words={its} fieldsAt={fieldsAt} />;
      })}
    </>
  );
}

interface SpecGroupProps {
  readonly path: FieldPath;
  readonly codec: t.Mixed;
  readonly words: AnyWords;
}

/** A field that consists of others. */
function SpecGroup({ path, codec, words }: SpecGroupProps) {
  const written = writtenPath(path);
  const group = useGroupDescription(written);
  const isSet = valueAt(useForm().form, path) !== undefined;
  return (
    <fieldset {...group} class={isSet ? "set" : ""}>
      <legend>{words.label}</legend>
      <FieldNotes path={written} words={words} />
      <SpecFields path={path} codec={codec} words={words.fields ?? {}} />
    </fieldset>
  );
}

function isSingle(shape: Shape): boolean {
  return shape.kind !== "object" && elementOf(shape) === undefined;
}

/** The codec of a list's elements. */
function elementOf(shape: Shape): t.Mixed | undefined {
  if (shape.kind === "list") return shape.element;
  return shape.kind === "described" ? shape.codec.schema.items : undefined;
}

interface SpecFieldProps {
  readonly path: FieldPath;
  readonly codec: t.Mixed;
  readonly words: AnyWords;
  /** What there is to choose from; without it a text is typed. */
  readonly suggestions?: readonly Suggestion[];
  /** The value of an emptied field; undefined takes it out of the request. */
  readonly emptied?: unknown;
}

/** One field of the request, shown by what its codec accepts. Empty means that the field is not sent. */
function SpecField({ path, codec, words, suggestions, emptied }: SpecFieldProps) {
  const { form, change, ids } = useForm();
  const written = writtenPath(path);
  const input = useDescription(written);
  return (
    <div class="spec-field">
      <label for={input.id}>{words.label}</label>
      <Control
        input={input}
        shape={shapeOf(codec)}
        value={valueAt(form, path)}
        values={words.values ?? { true: "Yes", false: "No" }}
        suggestions={suggestions ?? (words.ids ? ids[words.ids] : [])}
        set={(value) => change(path, value === "" ? emptied : value)}
      />
      <FieldNotes path={written} words={words} />
    </div>
  );
}

interface ControlProps {
  readonly input: ReturnType<typeof useDescription>;
  readonly shape: Shape;
  readonly value: unknown;
  /** What the choices of an enumeration or of a yes and no mean. */
  readonly values: Readonly<Record<string, string>>;
  readonly suggestions: readonly Suggestion[];
  readonly set: (value: unknown) => void;
}

function Control({ input, shape, value, values, suggestions, set }: ControlProps) {
  const text =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
  if (shape.kind === "boolean" || shape.kind === "spellings") {
    const meaning = (chosen: string) => (shape.kind === "boolean" && chosen !== "" ? chosen === "true" : chosen);
    return (
      <select {...input} value={text} onChange={(event) => set(meaning(event.currentTarget.value))}>
        <option value="">Not set</option>
        {Object.entries(values).map(([spelling, words]) => (
          <option key={spelling} value={spelling}>
            {words}
          </option>
        ))}
      </select>
    );
  }
  const schema = shape.kind === "described" ? shape.codec.schema : undefined;
  if (schema?.format === "date-time") return <TimeInput value={text} onChange={set} input={input} />;
  if (suggestions.length > 0)
    return (
      <select {...input} value={text} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">Not set</option>
        {text !== "" && !suggestions.some((one) => one.value === text) && (
          <option value={text}>{text} (not in the list)</option>
        )}
        {suggestions.map(({ value: proposed, label }) => (
          <option key={proposed} value={proposed}>
            {label ?? proposed}
          </option>
        ))}
      </select>
    );
  const isNumber = schema?.type === "integer";
  const mayBeNumber = isNumber || schema?.oneOf?.some(({ type }) => type === "integer") === true;
  return (
    <input
      type="text"
      {...input}
      {...(isNumber && { inputMode: "numeric" as const })}
      autocomplete="off"
      value={text}
      onInput={({ currentTarget: { value: typed } }) =>
        // What is no number stays as it was typed: the codec says what is wrong with it.
        set(mayBeNumber && /^\d{1,9}$/.test(typed) ? Number(typed) : typed)
      }
    />
  );
}

interface SpecListProps {
  readonly path: FieldPath;
  readonly words: AnyWords;
  /** The fields of the element at a path. */
  readonly fieldsAt: (path: FieldPath) => ComponentChildren;
}

/** A field that is a list: its elements, each with a way to take it away, and a way to add one. */
function SpecList({ path, words, fieldsAt }: SpecListProps) {
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

interface TimeInputProps {
  /** A timestamp, or what has not become one. */
  readonly value: string;
  /** Is given a timestamp, or an empty text. */
  readonly onChange: (timestamp: string) => void;
  readonly input: { readonly id: string };
}

/** No timestamp, so that no codec takes it. */
const incomplete = "an incomplete time";

/** A time as the browser's place has it, and the same in UTC: one of the two is what somebody else was told. */
function TimeInput({ value, onChange, input }: TimeInputProps) {
  // What is being typed is a time of year 2 for a moment; it must not be taken away by what that is in UTC and back.
  const [typed, setTyped] = useState<{ text: string; timestamp: string }>();
  const text = typed?.timestamp === value ? typed.text : localTimeOf(value);
  const take = (now: string, timestamp: string) => {
    setTyped({ text: now, timestamp });
    onChange(timestamp);
  };
  return (
    <>
      <input
        type="datetime-local"
        {...input}
        step={text.length > "2026-12-01T09:30".length ? "any" : 60}
        value={text}
        onInput={({ currentTarget }) => take(currentTarget.value, timestampOf(currentTarget.value))}
        onBlur={({ currentTarget }) => {
          // Half a time has no value either, but is not the same as none.
          if (currentTarget.validity.badInput) take("", incomplete);
          else if (value === incomplete) take("", "");
        }}
      />
      {value !== "" && text !== "" && <span class="small utc">= {utcMinute(Date.parse(value))}</span>}
    </>
  );
}

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
function useGroupDescription(path: string) {
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

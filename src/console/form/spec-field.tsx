import type * as t from "io-ts";
import { shapeOf, type Shape } from "../../domain/codec-shape";
import { valueAt, writtenPath, type FieldPath } from "../model/field-path";
import type { Suggestion } from "../model/known-ids";
import type { AnyWords } from "../words/field-words";
import { FieldNotes, useDescription } from "./field-notes";
import { useForm } from "./form-context";
import { TimeInput } from "./time-input";

interface SpecFieldProps {
  readonly path: FieldPath;
  readonly codec: t.Mixed;
  readonly words: AnyWords;
  /** What is worth proposing for a text. */
  readonly suggestions?: readonly Suggestion[];
  /** The value of an emptied field; undefined takes it out of the request. */
  readonly emptied?: unknown;
}

/** One field of the request, shown by what its codec accepts. Empty means that the field is not sent. */
export function SpecField({ path, codec, words, suggestions, emptied }: SpecFieldProps) {
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
  const isNumber = schema?.type === "integer";
  return (
    <>
      <input
        type="text"
        {...input}
        {...(isNumber && { inputMode: "numeric" as const })}
        {...(suggestions.length > 0 && { list: `${input.id}-list` })}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget: { value: typed } }) =>
          // What is no number stays as it was typed: the codec says what is wrong with it.
          set(isNumber && /^\d{1,9}$/.test(typed) ? Number(typed) : typed)
        }
      />
      {suggestions.length > 0 && (
        <datalist id={`${input.id}-list`}>
          {suggestions.map(({ value: proposed, label }) => (
            <option key={proposed} value={proposed}>
              {label}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

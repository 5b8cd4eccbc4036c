import type * as t from "io-ts";
import { shapeOf, type Shape } from "../../domain/codec-shape";
import { valueAt, writtenPath, type FieldPath } from "../model/field-path";
import type { Suggestion } from "../model/known-ids";
import type { AnyWords } from "../words/field-words";
import { FieldNotes, useGroupDescription } from "./field-notes";
import { useForm } from "./form-context";
import { SpecField } from "./spec-field";
import { SpecList } from "./spec-list";

interface SpecFieldsProps {
  readonly path: FieldPath;
  /** Of the model whose fields these are. */
  readonly codec: t.Mixed;
  readonly words: Readonly<Record<string, AnyWords>>;
  /** Shows these fields only. */
  readonly only?: readonly string[];
  /** By the name of a field: what is worth proposing for it. */
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

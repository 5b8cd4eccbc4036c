import type { IdList } from "../model/known-ids";

/**
 * What the form says of each field of a model, in plain words: a label, a hint, and what the spellings of an enumeration
 * or the parts of an object mean. Made from the model's type, so that a field without words does not compile.
 */
export type WordsOf<T> = { readonly [K in keyof T]-?: FieldWords<NonNullable<T[K]>> };

type FieldWords<T> = Plain & Particular<T>;

interface Plain {
  readonly label: string;
  readonly hint: string;
  /** The list whose ids this field accepts. */
  readonly ids?: IdList;
}

type Particular<T> = [T] extends [boolean]
  ? unknown
  : [T] extends [string]
    ? string extends T
      ? unknown
      : { readonly values: Readonly<Record<T, string>> }
    : [T] extends [readonly (infer E)[]]
      ? ListWords & { readonly fields: WordsOf<E> }
      : [T] extends [object]
        ? { readonly fields: WordsOf<T> }
        : unknown;

interface ListWords {
  /** What one element is called, with its article: "a firmware package". */
  readonly element: string;
  /** What an empty list means, where it is not the same as none. */
  readonly empty?: string;
}

/** The words of any field, for those who show fields without knowing their model. */
export interface AnyWords extends Plain, Partial<ListWords> {
  readonly values?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, AnyWords>>;
}

import type { StatusWords } from "../model/labels";

/** A status as sign, word and colour. */
export function StatusBadge({ words: { tone, sign, word } }: { readonly words: StatusWords }) {
  return (
    <span class={`badge ${tone}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

import type { Upgrade } from "../spec/upgrade";

/** Bytes of JSON that Temporal takes for one search attribute; a little is left for what it adds itself. */
export const mostBytes = 2000;

/** Beginnings of words are found from the first to the last of these lengths. */
const beginnings = { from: 3, to: 12 };

/**
 * What the list finds an upgrade by, in lower case: its creator, as such and by name, the id of its change, the names of its
 * resources, the words in these, and the beginnings of all. Of an upgrade with many resources only what fits, names first. `store` gives each as it is stored.
 */
export function searchTerms(
  { createdBy, changeId, resources = [] }: Pick<Upgrade, "createdBy" | "changeId" | "resources">,
  store: (term: string) => string = (term) => term,
): string[] {
  const names = [createdBy ?? [], changeId ?? [], ...resources.map(({ name }) => name ?? [])]
    .flat()
    .map(toTerm)
    .filter((name) => name !== "");
  const words = names.flatMap((name) => name.split(/[^\p{L}\p{N}]+/u)).filter((word) => word !== "");
  const terms = new Set([...(createdBy === undefined ? [] : [creatorTerm(createdBy)]), ...names, ...words]);
  for (let length = beginnings.from; length <= beginnings.to; length += 1)
    for (const term of [...names, ...words]) if (term.length > length) terms.add(term.slice(0, length));
  let bytes = 2;
  return [...terms].map(store).filter((term) => {
    const more = utf8Length(JSON.stringify(term)) + 1;
    if (bytes + more > mostBytes) return false;
    bytes += more;
    return true;
  });
}

/** The term of upgrades that a caller has created, which is no word that a search can have. */
export function creatorTerm(caller: string): string {
  return `created by ${toTerm(caller)}`;
}

/** The words of a search, as {@link searchTerms} has them. */
export function searchWords(search: string): string[] {
  return search
    .split(/\s+/u)
    .map(toTerm)
    .filter((word) => word !== "");
}

/** Without quotation marks and control characters, for which Visibility on SQLite fails. */
function toTerm(text: string): string {
  return text
    .toLowerCase()
    .replace(/["\p{Cc}]/gu, "")
    .trim();
}

/** How many bytes a text has in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** A thing as messages name it: its name, then its id in parentheses; the id alone where nothing else is known. */
export function nameAndId(name: string | undefined, id: string): string {
  return name === undefined || name === "" || name === id ? id : `${name} (${id})`;
}

/** An upgrade in the middle of a sentence. Its name begins with "Upgrade" (plan/plan-upgrade.ts). */
export function upgradeTitle({ id, name }: { readonly id: string; readonly name?: string | undefined }): string {
  return name === undefined ? `upgrade ${id}` : lowerFirst(nameAndId(name, id));
}

/** For the middle of a sentence; names of products keep their capitals. */
export function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** For the beginning of a sentence. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

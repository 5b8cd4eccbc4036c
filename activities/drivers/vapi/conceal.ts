/** Shorter ones would be found in ordinary words, and hiding those would tell more than it hides. */
const shortestSecret = 4;

/** Shown for a text that holds a secret which could as well be a word of that text: a gap would tell it. */
const withheld = "(This message is not shown because it may hold a secret.)";

/** Whether a secret reads like a word, a number or a version. */
function isOrdinary(secret: string): boolean {
  return /^(?:\p{L}+|[\d.:-]+)$/u.test(secret);
}

/**
 * What a component manager has answered (its text, and that parsed), with no secret left in the texts for people. Other fields
 * are not touched: nothing is made of them that people read, and a secret that happens to be a status must not change
 * what it means. Most answers hold none, which their text tells at once, unless it is written with escapes.
 */
export function conceal(text: string, body: unknown, secrets: readonly string[]): unknown {
  const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
  const mayHold = text.includes("\\") || hidden.some((secret) => text.includes(secret));
  return mayHold ? concealed(body, hidden) : body;
}

function concealed(value: unknown, secrets: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((element) => concealed(element, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      key === "default_message" && typeof field === "string"
        ? concealedText(field, secrets)
        : concealed(field, secrets),
    ]),
  );
}

function concealedText(text: string, secrets: readonly string[]): string {
  if (secrets.some((secret) => isOrdinary(secret) && text.includes(secret))) return withheld;
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}

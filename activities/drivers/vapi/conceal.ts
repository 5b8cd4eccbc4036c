/** Shorter ones would be found in ordinary words, and hiding those would tell more than it hides. */
const shortestSecret = 4;

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
        ? secrets.reduce((text, secret) => text.replaceAll(secret, "***"), field)
        : concealed(field, secrets),
    ]),
  );
}

/** Shorter ones would be found in ordinary words, and hiding those would tell more than it hides. */
const shortestSecret = 4;

/**
 * An answer in whose texts for people no secret is left. Other fields are not touched: nothing is made of them that
 * people read, and a secret that happens to be a status must not change what it means.
 */
export function conceal(body: unknown, secrets: readonly string[]): unknown {
  const hidden = secrets.filter((secret) => secret.length >= shortestSecret);
  return hidden.length === 0 ? body : concealed(body, hidden);
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

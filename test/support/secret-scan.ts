/** Gives the names of the secrets that a text holds. */
export type SecretScan = (text: string) => string[];

/**
 * Looks for secrets, given by name, as they are and as they may be written: escaped in JSON, XML or a URL, as hex, or as
 * a part of something in base64. Each line of a secret of several lines, such as a key as PEM, is a secret by itself.
 * Throws for a secret that is so short that it would be found by chance.
 */
export function secretScan(secrets: Readonly<Record<string, string>>): SecretScan {
  const forms = Object.entries(secrets).flatMap(([name, secret]) =>
    linesOf(name, secret).flatMap((line) => formsOf(line).map((form) => ({ name, form }))),
  );
  return (text) => [...new Set(forms.filter(({ form }) => text.includes(form)).map(({ name }) => name))];
}

const shortest = 8;

function linesOf(name: string, secret: string): string[] {
  const lines = secret
    .split("\n")
    .map((line) => line.trim())
    // Of a key as PEM the first and the last line are no secret; its last line of data may be short.
    .filter((line, _, all) => !line.startsWith("-----") && (all.length === 1 || line.length >= shortest));
  if (lines.length === 0 || lines.some((line) => line.length < shortest))
    throw new Error(`The secret ${name} is too short to be looked for`);
  return lines;
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const xml = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const plain = [secret, json, JSON.stringify(json).slice(1, -1), xml, xml.replaceAll('"', "&quot;")];
  const encoded = [encodeURIComponent(secret), bytes.toString("hex"), bytes.toString("hex").toUpperCase()];
  return [...new Set([...plain, ...encoded, ...insideBase64(bytes), ...keyItself(secret)])];
}

/** As base64 has it at any place in a longer text: without the characters that its neighbours take part in. */
function insideBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replaceAll("=", "");
    const inner = text.slice(before === 0 ? 0 : before + 1, (before + bytes.length) % 3 === 0 ? undefined : -1);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** The bytes of a key that is written in base64, as they are and as hex. */
function keyItself(secret: string): string[] {
  const bytes = Buffer.from(secret, "base64");
  if (bytes.length < 16 || bytes.toString("base64") !== secret) return [];
  return [bytes.toString("latin1"), bytes.toString("hex")];
}

import type * as t from "io-ts";

/** The JSON of an answer; the text itself where it is none, which no codec accepts; undefined where it is empty. */
export function parseAnswer(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The fields that a codec objects to, at most three. */
export function problemsOf(errors: t.Errors): string {
  const paths = errors.map(({ context }) =>
    context.map(({ key }) => key).filter((key) => key !== "" && !/^\d+$/.test(key)),
  );
  return [...new Set(paths.map((path) => path.join(".") || "the body"))].slice(0, 3).join(", ");
}

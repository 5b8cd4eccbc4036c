import type * as t from "io-ts";

/** The body of an answer that is no JSON, such as a page of whatever stands before a service: no codec accepts it. */
export class NotJson {
  readonly isJson = false;
}

/** The JSON of an answer; NotJson where it is none; undefined where it is empty. */
export function parseAnswer(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return new NotJson();
  }
}

/** The fields that a codec objects to, at most three. */
export function problemsOf(errors: t.Errors): string {
  const paths = errors.map(({ context }) =>
    context.map(({ key }) => key).filter((key) => key !== "" && !/^\d+$/.test(key)),
  );
  return [...new Set(paths.map((path) => path.join(".") || "the body"))].slice(0, 3).join(", ");
}

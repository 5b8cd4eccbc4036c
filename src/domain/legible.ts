import { map } from "fp-ts/Either";
import * as t from "io-ts";

/** Runs of control characters, and of those that break a line, turn the direction of a text or do not show. */
export const illegible = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]+/gu;

/** One line of well-formed text that steers no terminal and reads in one direction. */
export function legible(text: string): string {
  return text.replace(illegible, " ").replace(/\p{Cs}/gu, "\ufffd");
}

/**
 * A name or a text for people, made {@link legible} where it comes in: it goes on to Tasks, logs, terminals and web pages. Never
 * for ids, nor for names that are sent back.
 */
export const Legible = new t.Type<string, string, unknown>(
  "legible text",
  t.string.is,
  (u, c) => map(legible)(t.string.validate(u, c)),
  t.identity,
);

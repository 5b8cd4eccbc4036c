import type * as t from "io-ts";
import { quote, type FieldProblem } from "./decode-errors";
import { nearestKnownName, type UnknownField } from "./unknown-fields";

/** The errors of fields that nobody knows, each with the name that was most likely meant. */
export function unknownFieldProblems(codec: t.Mixed, unknown: readonly UnknownField[]): FieldProblem[] {
  return unknown.map((field) => ({
    path: cutPath(field.path),
    code: "UNKNOWN_FIELD",
    message: `${unknownFieldMessage(codec, field)}.`,
    remediation: "Correct the name or leave the field out; /openapi.json describes every field.",
  }));
}

/** Without a full stop. */
export function unknownFieldMessage(codec: t.Mixed, field: UnknownField): string {
  const nearest = nearestKnownName(codec, field);
  const hint = nearest === undefined ? "" : `; the nearest known name is ${nearest}`;
  return `${cutPath(field.path)}: there is no field ${quote(field.name)} here${hint}`;
}

/** A path ends in a client's own name, which may be long. */
export function cutPath(path: string): string {
  return path.length <= 255 ? path : `${path.slice(0, 254)}…`;
}

import { specifiedModels, type Specified, type SpecifiedFields } from "./specified-models";

/** A place below a model, such as `HostosUpgradeOptionsSpec.hostosUpgradeFailureAction.action`, and what is there. */
type Place = readonly [path: string, at: Specified | SpecifiedFields];

function placesBelow(path: string, fields: SpecifiedFields): Place[] {
  const inner = Object.entries(fields).flatMap(([name, at]) => placesOf(`${path}.${name.replace("!", "")}`, at));
  return [[path, fields], ...inner];
}

function placesOf(path: string, at: Specified): Place[] {
  if (typeof at === "string") return [];
  if ("list" in at) return placesOf(path, at.list);
  return "fields" in at ? placesBelow(path, at.fields) : [[path, at]];
}

const places = Object.entries(specifiedModels).flatMap(([model, fields]) => placesBelow(model, fields));

/** Names of the fields of each model, and of each object without a name, by path. */
export const fieldsOfModels: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  places.flatMap(([path, at]) =>
    typeof at === "object" && !("oneOf" in at) ? [[path, Object.keys(at).map((name) => name.replace("!", ""))]] : [],
  ),
);

/** The values of each enumeration, by path. */
export const enumerations: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  places.flatMap(([path, at]) =>
    typeof at === "object" && "oneOf" in at && Array.isArray(at.oneOf) ? [[path, at.oneOf as readonly string[]]] : [],
  ),
);

import type { Cluster } from "../../domain/cluster";
import { optionsOfImages } from "../../domain/options-of-images";
import { remediationOptions } from "../../domain/remediation-options";
import { ResourceUpgradeSpec } from "../../domain/upgrade-spec";
import { withValueAt, writtenPath, type FieldPath } from "./field-path";
import type { Fields } from "./upgrade-form";

interface FieldsForKind {
  readonly fields: Fields;
  /** Paths of what the kind cannot be asked for. */
  readonly dropped: readonly string[];
}

/**
 * What fields that clusters share mean for one of them: a field that exists only for the other kind is left out, because
 * the service refuses it (docs/spec-gaps.md, cluster kinds). All fields where the kind is not known, or where they do
 * not decode.
 */
export function fieldsForKind(fields: Fields, kind: Cluster["kind"]): FieldsForKind {
  const unfit = unfitFields(fields, kind);
  return {
    fields: unfit.reduce<Fields>((left, path) => (withValueAt(left, path, undefined) ?? {}) as Fields, fields),
    dropped: unfit.map(writtenPath),
  };
}

function unfitFields(fields: Fields, kind: Cluster["kind"]): readonly FieldPath[] {
  const has = (name: string) => fields[name] !== undefined;
  if (kind === "IMAGE") return has("customIsoSpec") ? [["customIsoSpec"]] : [];
  const decoded = ResourceUpgradeSpec.decode({ ...fields, resourceId: "any" });
  if (kind === undefined || decoded._tag === "Left") return [];
  const spec = decoded.right;
  const options = optionsOfImages(remediationOptions(spec)).flatMap(({ option }): FieldPath[] => [
    ...(spec.hostosUpgradeOptionsSpec?.[option] === undefined ? [] : [["hostosUpgradeOptionsSpec", option]]),
    ...(has(option) ? [[option]] : []),
  ]);
  return [...(has("personalitySpec") ? [["personalitySpec"]] : []), ...options];
}

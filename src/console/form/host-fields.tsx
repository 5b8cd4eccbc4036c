import { productsOf, versionsOffered } from "../../domain/bundle-products";
import type { Bundle } from "../../domain/bundle";
import type { Cluster } from "../../domain/cluster";
import { ResourceUpgradeSpec } from "../../domain/upgrade-spec";
import { valueAt, type FieldPath } from "../model/field-path";
import { clusterFieldGroups, type Fields } from "../model/upgrade-form";
import { clusterWords } from "../words/cluster-words";
import { useForm } from "./form-context";
import { SpecFields } from "./spec-fields";

interface HostFieldsProps {
  /** Of the fields: those that clusters share, or a cluster's own. */
  readonly path: FieldPath;
  readonly bundle: Bundle | undefined;
  /** Of the clusters that they are for; undefined is a kind that nobody knows. */
  readonly kinds: readonly Cluster["kind"][];
}

/** To what and how hosts are upgraded. Only what bundle and clusters can use, and what is filled in all the same. */
export function HostFields({ path, bundle, kinds }: HostFieldsProps) {
  const fields = (valueAt(useForm().form, path) ?? {}) as Fields;
  const isSuitable = {
    toVersion: true,
    personalitySpec: kinds.some((kind) => kind !== "BASELINE"),
    customIsoSpec: kinds.some((kind) => kind !== "IMAGE"),
  };
  const holdsHosts = !bundle || productsOf(bundle).includes("HOSTOS");
  const target = clusterFieldGroups.target.filter(
    (name) => fields[name] !== undefined || (holdsHosts && isSuitable[name]),
  );
  const older = clusterFieldGroups.older.filter((name) => holdsHosts || fields[name] !== undefined);
  return (
    <>
      <SpecFields
        path={path}
        codec={ResourceUpgradeSpec}
        words={clusterWords}
        only={[...target, ...clusterFieldGroups.options]}
        suggestions={{ toVersion: bundle ? versionsOffered(bundle).map((value) => ({ value })) : [] }}
      />
      {older.length > 0 && (
        <details open={older.some((name) => fields[name] !== undefined)}>
          <summary>Older forms of these options</summary>
          <SpecFields path={path} codec={ResourceUpgradeSpec} words={clusterWords} only={older} />
        </details>
      )}
    </>
  );
}

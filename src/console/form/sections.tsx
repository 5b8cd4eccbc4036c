import { productsOf, versionsOffered } from "../../domain/plan/facts";
import type { Bundle } from "../../domain/spec/bundle";
import type { Cluster } from "../../domain/spec/cluster";
import { ResourceUpgradeSpec, UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { clusterWords, requestWords } from "../labels/field-labels";
import { type FieldPath, valueAt, writtenPath } from "../model/field-path";
import { fieldsForKind } from "../model/form-request";
import { clusterFieldGroups, type Fields } from "../model/upgrade-form";
import { fieldId, useForm } from "./form-context";
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
  const rollout = clusterFieldGroups.rollout.filter((name) => holdsHosts || fields[name] !== undefined);
  const older = clusterFieldGroups.older.filter((name) => holdsHosts || fields[name] !== undefined);
  return (
    <>
      <SpecFields
        path={path}
        codec={ResourceUpgradeSpec}
        words={clusterWords}
        only={[...target, ...rollout, ...clusterFieldGroups.options]}
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

const inputs = [
  { product: "NETVIRT", field: "netvirtUpgradeUserInputSpecs" },
  { product: "MGMT", field: "mgmtUpgradeUserInputSpecs" },
] as const;

/** Inputs for the products beside hosts: those of the bundle, and those that are filled in although it has none. */
export function ServerFields({ bundle }: { readonly bundle: Bundle | undefined }) {
  const { form } = useForm();
  const products = bundle ? productsOf(bundle) : [];
  const shown = inputs.filter(({ product, field }) => products.includes(product) || form[field] !== undefined);
  return (
    <>
      {shown.map(({ product, field }) => (
        <details key={product} class="panel">
          <summary>{requestWords[field].label}</summary>
          {bundle && !products.includes(product) && (
            <p class="field-error">
              The bundle has no version of it. Take these inputs away, or choose another bundle.
            </p>
          )}
          <SpecFields path={[]} codec={UpgradeSpec} words={requestWords} only={[field]} />
        </details>
      ))}
    </>
  );
}

/** When clusters begin: at once, or not before a time. `path` is that of their fields. */
export function WhenFields({ path }: { readonly path: FieldPath }) {
  const { form, change } = useForm();
  const { upgradeNow, scheduledTimestamp, ...others } = (valueAt(form, path) ?? {}) as Fields;
  // As in the service, `upgradeNow` wins over a time, and neither of the two means now.
  const isTimed = upgradeNow !== true && scheduledTimestamp !== undefined;
  const name = fieldId(writtenPath([...path, "when"]));
  return (
    <>
      <div class="radios" role="radiogroup" aria-label="When">
        <label class="check">
          <input
            type="radio"
            name={name}
            checked={!isTimed}
            onChange={() => change(path, { upgradeNow: true, ...others })}
          />
          {clusterWords.upgradeNow.label}
        </label>
        <label class="check">
          <input
            type="radio"
            name={name}
            checked={isTimed}
            // Until there is a time it is an empty one, which no codec takes.
            onChange={() => change(path, { scheduledTimestamp: scheduledTimestamp ?? "", ...others })}
          />
          At a time
        </label>
      </div>
      {isTimed && (
        <SpecFields
          path={path}
          codec={ResourceUpgradeSpec}
          words={clusterWords}
          only={["scheduledTimestamp"]}
          emptied={{ scheduledTimestamp: "" }}
        />
      )}
    </>
  );
}

interface OwnSettingsProps {
  readonly clusters: readonly Cluster[];
  readonly bundle: Bundle | undefined;
}

/** For each chosen cluster: whether it shares time and options with the others, or has its own. */
export function OwnSettings({ clusters, bundle }: OwnSettingsProps) {
  const { form, change } = useForm();
  return (
    <details class="panel">
      <summary>Other settings for single clusters</summary>
      {form.clusters.length === 0 && <p class="small">Choose clusters first.</p>}
      {form.clusters.map(({ resourceId, own }, i) => {
        const cluster = clusters.find(({ id }) => id === resourceId);
        const name = cluster?.name ?? resourceId;
        const toggle = (isOwn: boolean) =>
          // It begins with what it had, so that nothing changes before somebody changes it.
          change(["clusters", i, "own"], isOwn ? fieldsForKind(form.common, cluster?.kind).fields : undefined);
        return (
          <fieldset key={resourceId} id={fieldId(`clusters[${i}].own`)} tabIndex={-1} class={own ? "set" : "plain"}>
            <legend class="check">
              <label class="check">
                <input
                  type="checkbox"
                  checked={own !== undefined}
                  onChange={(event) => toggle(event.currentTarget.checked)}
                />
                {name} has its own
              </label>
            </legend>
            {own && (
              <>
                <WhenFields path={["clusters", i, "own"]} />
                <HostFields path={["clusters", i, "own"]} bundle={bundle} kinds={[cluster?.kind]} />
              </>
            )}
          </fieldset>
        );
      })}
    </details>
  );
}

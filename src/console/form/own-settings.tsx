import type { Bundle } from "../../domain/bundle";
import type { Cluster } from "../../domain/cluster";
import { fieldsForKind } from "../model/fields-for-kind";
import { fieldId, useForm } from "./form-context";
import { HostFields } from "./host-fields";
import { WhenFields } from "./when-fields";

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

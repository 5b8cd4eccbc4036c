import { ResourceUpgradeSpec } from "../../domain/upgrade-spec";
import { valueAt, writtenPath, type FieldPath } from "../model/field-path";
import type { Fields } from "../model/upgrade-form";
import { clusterWords } from "../words/cluster-words";
import { fieldId, useForm } from "./form-context";
import { SpecFields } from "./spec-fields";

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

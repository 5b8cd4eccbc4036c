import { useState } from "preact/hooks";
import { type ChangeRecord, labelTexts, splitLabel } from "../../domain/spec/change-record";
import { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { requestWords } from "../labels/field-labels";
import { useForm } from "./form-context";
import { FieldNotes, SpecFields, useDescription } from "./spec-fields";

/** Why the upgrade is made: for people, and for the lists that are filtered by it. */
export function ChangeRecordFields() {
  return (
    <fieldset>
      <legend>Why</legend>
      <SpecFields path={[]} codec={UpgradeSpec} words={requestWords} only={["reason", "changeId"]} />
      <LabelsField />
    </fieldset>
  );
}

/** Labels as one text. A part that is no label yet goes into the request too: the codec says what is wrong with it. */
function LabelsField() {
  const { form, change } = useForm();
  const input = useDescription("labels");
  const labels = (form.labels ?? {}) as NonNullable<ChangeRecord["labels"]>;
  const [typed, setTyped] = useState("");
  const isTyped = labelTexts(labelsOf(typed)).join() === labelTexts(labels).join();
  return (
    <div class="spec-field">
      <label for={input.id}>{requestWords.labels.label}</label>
      <input
        type="text"
        {...input}
        autocomplete="off"
        value={isTyped ? typed : labelTexts(labels).join(", ")}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          const read = labelsOf(value);
          change(["labels"], Object.keys(read).length > 0 ? read : undefined);
        }}
      />
      <FieldNotes path="labels" words={requestWords.labels} />
    </div>
  );
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const parts = text.split(",").map((part) => part.trim());
  return Object.fromEntries(
    parts.filter((part) => part !== "").map((part) => splitLabel(part).map((side) => side.trim()) as [string, string]),
  );
}

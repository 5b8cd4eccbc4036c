import { useEffect, useState } from "preact/hooks";
import { PageOfBundle } from "../../domain/spec/bundle";
import { PageOfCluster } from "../../domain/spec/cluster";
import { usePolled } from "../client/ask-api";
import {
  changeReadiness,
  isStarting,
  readinessForm,
  readinessProblems,
  refusal,
  startReadiness,
} from "../client/new-readiness";
import { useTitle } from "../client/page-hooks";
import { BundleChoice, ClusterChoice } from "../form/choices";
import { FormContext, revealField } from "../form/form-context";
import { ProblemSummary } from "../form/problem-summary";
import { FieldNotes, useDescription } from "../form/spec-fields";
import { noIds } from "../model/known-ids";
import { zoneName } from "../model/local-time";
import { fragmentOf } from "../model/page-address";
import { type ReadinessForm, type Repeat, repeatWords, timeZones } from "../model/readiness-form";
import { emptyForm } from "../model/upgrade-form";
import { ErrorNote } from "../parts/error-note";

/** Asks which clusters are checked for which bundle, and whether again and again. */
export function NewReadiness() {
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000);
  const clusters = usePolled(PageOfCluster, "/v1/clusters", 10_000);
  // Counts the refusals: after each the focus goes to what is wrong.
  const [refusals, setRefusals] = useState(0);
  useTitle("New readiness check");
  useEffect(() => {
    if (refusals === 0) return;
    const [wrong] = readinessProblems.value.map(({ at }) => revealField(at)).filter((element) => element !== undefined);
    (wrong ?? document.getElementById("problem-summary"))?.focus();
  }, [refusals]);
  const start = async () => {
    const id = await startReadiness();
    if (id !== undefined) location.hash = fragmentOf({ page: "CHECK", id });
    else setRefusals((n) => n + 1);
  };
  const form = readinessForm.value;
  const handle = {
    // The fields that this form shares with that of an upgrade.
    form: { ...emptyForm, bundleId: form.bundleId, clusters: form.clusters },
    change: changeReadiness,
    problemAt: (path: string) => readinessProblems.value.find(({ at }) => at === path),
    ids: noIds,
  };
  return (
    <FormContext.Provider value={handle}>
      <h1>New readiness check</h1>
      <p>Runs the prechecks of an upgrade without starting one. It locks and changes nothing.</p>
      <form
        class="new-check"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <BundleChoice bundles={bundles.value?.elements ?? []} />
        <ClusterChoice clusters={clusters.value?.elements ?? []} isForCheck />
        {[bundles.error, clusters.error].map((each, i) => each && <ErrorNote key={i} error={each} isAlert />)}
        <RepeatFields form={form} />
        <ProblemSummary problems={readinessProblems.value} error={refusal.value} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={isStarting.value}>
            Start the check
          </button>
        </div>
      </form>
    </FormContext.Provider>
  );
}

/** Whether the check is repeated, and when by the clock of which place. */
function RepeatFields({ form: { repeat, time, timeZone } }: { readonly form: ReadinessForm }) {
  return (
    <fieldset>
      <legend>Schedule</legend>
      <div class="spec-fields">
        <div class="spec-field">
          <label for="field-repeat">Repeat</label>
          <select
            {...useDescription("repeat")}
            value={repeat}
            onChange={({ currentTarget: { value } }) => changeReadiness(["repeat"], value)}
          >
            {(Object.keys(repeatWords) as Repeat[]).map((each) => (
              <option key={each} value={each}>
                {repeatWords[each]}
              </option>
            ))}
          </select>
          <FieldNotes path="repeat" words={{ label: "Repeat", hint: "The first check starts now." }} />
        </div>
        {repeat !== "ONCE" && (
          <>
            <TimeOfDay value={time} />
            <ZoneChoice value={timeZone} />
          </>
        )}
      </div>
    </fieldset>
  );
}

function TimeOfDay({ value }: { readonly value: string }) {
  return (
    <div class="spec-field">
      <label for="field-time">At</label>
      <input
        type="time"
        {...useDescription("time")}
        value={value}
        onInput={({ currentTarget }) => changeReadiness(["time"], currentTarget.value)}
      />
      <FieldNotes path="time" words={{ label: "At", hint: "By the clock of the time zone." }} />
    </div>
  );
}

function ZoneChoice({ value }: { readonly value: string }) {
  return (
    <div class="spec-field">
      <label for="field-timeZone">Time zone</label>
      <select
        {...useDescription("timeZone")}
        value={value}
        onChange={({ currentTarget }) => changeReadiness(["timeZone"], currentTarget.value)}
      >
        {timeZones(zoneName()).map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </select>
      <FieldNotes path="timeZone" words={{ label: "Time zone", hint: "" }} />
    </div>
  );
}

import { useEffect, useState } from "preact/hooks";
import { PageOfBundle } from "../../domain/spec/bundle";
import { PageOfCluster } from "../../domain/spec/cluster";
import {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../../domain/spec/installations";
import { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { usePolled } from "../client/ask-api";
import {
  askForPlan,
  failure,
  isAsking,
  knownClusters,
  plan,
  problems,
  request,
  startAfresh,
  startUpgrade,
  upgradeForm,
} from "../client/new-upgrade";
import { ChangeRecordFields } from "../form/change-record-fields";
import { BundleChoice, ClusterChoice } from "../form/choices";
import { fieldId, FormContext, revealField, useForm } from "../form/form-context";
import { JsonImport } from "../form/json-import";
import { ProblemSummary } from "../form/problem-summary";
import { SameAgain } from "../form/same-again";
import { HostFields, OwnSettings, ServerFields, WhenFields } from "../form/sections";
import { SpecFields } from "../form/spec-fields";
import { requestWords } from "../labels/field-labels";
import type { FieldPath } from "../model/field-path";
import { leftOut } from "../model/form-request";
import { knownIds } from "../model/known-ids";
import { fragmentOf } from "../model/page-address";
import { changed } from "../model/upgrade-form";
import { ErrorNote } from "../parts/error-note";
import { PlanPreview } from "../parts/plan-preview";
import { RequestText } from "../parts/request-text";

/** Asks what to upgrade, shows the plan that the service makes of it, and starts that and nothing else. */
export function NewUpgrade({ like }: { readonly like?: string | undefined }) {
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000);
  const clusters = usePolled(PageOfCluster, "/v1/clusters", 10_000);
  const netvirt = usePolled(PageOfNetvirtInstance, "/v1/netvirt", 60_000);
  const servers = usePolled(PageOfManagementServer, "/v1/management-servers", 60_000);
  const personalities = usePolled(PageOfPersonality, "/v1/personalities", 60_000);
  const isos = usePolled(PageOfIso, "/v1/isos", 60_000);
  // Counts the questions that were answered: after each the focus goes to what came of it.
  const [answers, setAnswers] = useState(0);
  const form = upgradeForm.value;
  const elements = clusters.value?.elements;
  const bundle = bundles.value?.elements?.find(({ id }) => id === form.bundleId);
  useEffect(() => {
    if (elements) knownClusters.value = elements;
  }, [elements]);
  useEffect(() => {
    if (answers === 0) return;
    const [wrong] = problems.value.map(({ at }) => revealField(at)).filter((element) => element !== undefined);
    const isRefused = problems.value.length > 0 || failure.value !== undefined;
    (wrong ?? document.getElementById(isRefused ? "problem-summary" : "plan-title"))?.focus();
  }, [answers]);
  const ask = async () => {
    await askForPlan();
    setAnswers((n) => n + 1);
  };
  const start = async () => {
    const id = await startUpgrade();
    if (id !== undefined) location.hash = fragmentOf({ page: "UPGRADE", id });
    else setAnswers((n) => n + 1);
  };
  const kinds = form.clusters.map(({ resourceId }) => knownClusters.value.find(({ id }) => id === resourceId)?.kind);
  const handle = {
    form,
    change: (path: FieldPath, value: unknown) => (upgradeForm.value = changed(upgradeForm.value, path, value)),
    problemAt: (path: string) => problems.value.find(({ at }) => at === path),
    ids: knownIds({
      netvirt: netvirt.value?.elements,
      servers: servers.value?.elements,
      personalities: personalities.value?.elements,
      isos: isos.value?.elements,
    }),
  };
  return (
    <FormContext.Provider value={handle}>
      <h1>New upgrade</h1>
      <div class="new-upgrade">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void ask();
          }}
        >
          <SameAgain like={like} isReady={knownClusters.value.length > 0} />
          <BundleChoice bundles={bundles.value?.elements ?? []} />
          <ClusterChoice clusters={knownClusters.value} />
          <MarkedChoice name="onPrecheckFailure" marked="SKIP_RESOURCE" />
          {[bundles.error, clusters.error].map((each, i) => each && <ErrorNote key={i} error={each} isAlert />)}
          <fieldset>
            <legend>When</legend>
            <MarkedChoice name="draftMode" marked={true} />
            <WhenFields path={["common"]} />
            <SpecFields path={[]} codec={UpgradeSpec} words={requestWords} only={["maintenanceWindow"]} />
          </fieldset>
          <details class="panel">
            <summary>Hosts: version, options, failures</summary>
            <HostFields path={["common"]} bundle={bundle} kinds={kinds.length > 0 ? kinds : [undefined]} />
            <SpecFields path={[]} codec={UpgradeSpec} words={requestWords} only={["parallelUpgrade"]} />
          </details>
          <ServerFields bundle={bundle} />
          <ChangeRecordFields />
          <OwnSettings clusters={knownClusters.value} bundle={bundle} />
          <JsonImport />
          <div class="buttons">
            <button type="submit" class={plan.value ? "" : "primary"} disabled={isAsking.value}>
              Show the plan
            </button>
            <button type="button" onClick={() => startAfresh()}>
              Clear
            </button>
          </div>
        </form>
        <div class="beside">
          <ProblemSummary problems={problems.value} error={failure.value} />
          {plan.value ? (
            <section aria-labelledby="plan-title">
              <h2 id="plan-title" tabIndex={-1}>
                The plan
              </h2>
              <PlanPreview preview={plan.value} leftOut={leftOut(form, knownClusters.value)} />
              <div class="buttons">
                <button type="button" class="primary" disabled={isAsking.value} onClick={() => void start()}>
                  {plan.value.draftMode ? "Create the draft" : "Start the upgrade"}
                </button>
              </div>
            </section>
          ) : (
            <p class="small">Choose a bundle and clusters. Before anything is sent, the plan is shown here.</p>
          )}
          {request.value._tag === "Right" && <RequestText spec={request.value.right} />}
        </div>
      </div>
    </FormContext.Provider>
  );
}

interface MarkedChoiceProps {
  readonly name: "draftMode" | "onPrecheckFailure";
  /** The value that the mark stands for. */
  readonly marked: unknown;
}

/** A field with one value that is worth asking for. */
function MarkedChoice({ name, marked }: MarkedChoiceProps) {
  const { form, change } = useForm();
  const { label, hint } = requestWords[name];
  const id = fieldId(name);
  return (
    <label class="check">
      <input
        type="checkbox"
        id={id}
        aria-describedby={`${id}-hint`}
        checked={form[name] === marked}
        onChange={({ currentTarget: { checked } }) => change([name], checked ? marked : undefined)}
      />
      <span>
        {label}{" "}
        <span id={`${id}-hint`} class="small">
          {hint}
        </span>
      </span>
    </label>
  );
}

import { useMemo, useState } from "preact/hooks";
import { PageOfBundle } from "../../domain/bundle";
import { PageOfCluster } from "../../domain/cluster";
import type { ErrorBody } from "../../domain/error-body";
import { Task } from "../../domain/task";
import { UpgradePreview } from "../../domain/upgrade-preview";
import type { UpgradeSpec } from "../../domain/upgrade-spec";
import { errorBodyOf } from "../client/api-failure";
import { askApi } from "../client/ask-api";
import { usePolled } from "../client/use-polled";
import { fragmentOf } from "../model/page-address";
import { curlOf, emptyForm, requestOf, type UpgradeForm } from "../model/upgrade-form";
import { ClusterChoice } from "../parts/cluster-choice";
import { ErrorNote } from "../parts/error-note";
import { PlanPreview } from "../parts/plan-preview";
import { UpgradeOptions } from "../parts/upgrade-options";

/** Asks what to upgrade, shows the plan that the service makes of it, and starts that and nothing else. */
export function NewUpgrade() {
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000);
  const clusters = usePolled(PageOfCluster, "/v1/clusters", 10_000);
  const [form, setForm] = useState<UpgradeForm>(emptyForm);
  const [previewed, setPreviewed] = useState<{ preview: UpgradePreview; spec: UpgradeSpec; key: string }>();
  const [error, setError] = useState<ErrorBody>();
  const [isAsking, setAsking] = useState(false);
  const all = clusters.value?.elements ?? [];
  const request = useMemo(() => requestOf(form, all), [form, all]);
  // A plan is of what was asked then; another request has another plan.
  const change = (part: Partial<UpgradeForm>) => {
    setForm((before) => ({ ...before, ...part }));
    setPreviewed(undefined);
    setError(undefined);
  };
  const asking = async (work: () => Promise<void>) => {
    setAsking(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      setError(errorBodyOf(thrown));
    }
    setAsking(false);
  };
  const preview = async () => {
    if (request._tag === "Left") return setError({ message: request.left });
    const spec = request.right;
    const plan = await askApi(UpgradePreview, { method: "POST", path: "/v1/upgrades/preview", body: spec });
    setPreviewed({ preview: plan, spec, key: crypto.randomUUID() });
  };
  const start = async () => {
    if (!previewed) return;
    // With a key, a second try after a lost answer starts nothing twice.
    const task = await askApi(Task, {
      method: "POST",
      path: "/v1/upgrades",
      body: previewed.spec,
      headers: { "idempotency-key": previewed.key },
    });
    location.hash = fragmentOf({ page: "UPGRADE", id: task.id });
  };
  return (
    <>
      <h1>New upgrade</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void asking(preview);
        }}
      >
        <label class="field">
          Bundle
          <select value={form.bundleId} onChange={(event) => change({ bundleId: event.currentTarget.value })}>
            <option value="">Choose one</option>
            {bundles.value?.elements?.map(({ id, version, description }) => (
              <option key={id} value={id}>
                {[version, description].filter(Boolean).join(": ") || id}
              </option>
            ))}
          </select>
        </label>
        <ClusterChoice clusters={all} chosen={form.clusterIds} onChange={(clusterIds) => change({ clusterIds })} />
        <UpgradeOptions form={form} change={change} />
        {[bundles.error, clusters.error].map((each, i) => each && <ErrorNote key={i} error={each} isAlert />)}
        <div class="buttons">
          <button type="submit" class={previewed ? "" : "primary"} disabled={isAsking}>
            Show the plan
          </button>
        </div>
      </form>
      {error && <ErrorNote error={error} isAlert />}
      {previewed && (
        <section aria-labelledby="plan-title">
          <h2 id="plan-title">The plan</h2>
          <PlanPreview preview={previewed.preview} />
          <div class="buttons">
            <button type="button" class="primary" disabled={isAsking} onClick={() => void asking(start)}>
              {previewed.preview.draftMode ? "Create the draft" : "Start the upgrade"}
            </button>
          </div>
        </section>
      )}
      {request._tag === "Right" && (
        <details>
          <summary>The same as JSON and for a terminal</summary>
          <pre tabIndex={0}>{JSON.stringify(request.right, null, 2)}</pre>
          <pre tabIndex={0}>{curlOf(location.origin, request.right)}</pre>
        </details>
      )}
    </>
  );
}

import { useState } from "preact/hooks";
import type { UpgradePreview } from "../../domain/plan/preview";
import type { Cluster } from "../../domain/spec/cluster";
import type { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { installation } from "../client/session";
import { productWords } from "../labels/line-labels";
import { curlOf, jsonOf, shellAuthorization } from "../model/curl-command";
import { factsOf, warningsOf } from "../model/plan-words";

interface PlanPreviewProps {
  readonly preview: UpgradePreview;
  readonly clusters: readonly Cluster[];
  /** By cluster id: fields that were left out for its kind. */
  readonly leftOut: ReadonlyMap<string, readonly string[]>;
}

/** What an upgrade would do, in the order in which it would, and what to think of before. */
export function PlanPreview({ preview, clusters, leftOut }: PlanPreviewProps) {
  const warnings = warningsOf(preview, leftOut);
  return (
    <>
      <p>
        {preview.name}
        {preview.draftMode && " (as a draft: only prechecks run until it is committed)"}
      </p>
      {warnings.length > 0 && (
        <section class="warnings" aria-labelledby="warnings-title">
          <h3 id="warnings-title">Before you continue</h3>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </section>
      )}
      <ol class="plan">
        {preview.products.map(({ product, resources }, i) => (
          <li key={product}>
            <h3>
              {productWords[product]}
              <span class="small">
                {i > 0 && " when the previous step is done"}
                {resources.length > 1 && `, ${resources.length} in parallel`}
              </span>
            </h3>
            <ul>
              {resources.map((resource) => (
                <li key={resource.resourceId}>
                  <span class="name">{resource.name}</span> to {resource.targetVersion}
                  <ul class="small">
                    {factsOf(
                      resource,
                      clusters.find(({ id }) => id === resource.resourceId),
                    ).map((fact) => (
                      <li key={fact}>{fact}</li>
                    ))}
                  </ul>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The request as JSON and as a command for a terminal, to be kept or sent from elsewhere. */
export function RequestText({ spec }: { readonly spec: UpgradeSpec }) {
  const mode = installation.value?.authenticationMode;
  return (
    <>
      <Copyable title="As JSON" text={jsonOf(spec)} />
      <Copyable title="For a terminal" text={curlOf(location.origin, spec, shellAuthorization(mode))}>
        {mode !== "dev" && "Set ACCESS_TOKEN to your access token first; it is not shown here."}
      </Copyable>
    </>
  );
}

interface CopyableProps {
  readonly title: string;
  readonly text: string;
  readonly children?: string | false;
}

function Copyable({ title, text, children }: CopyableProps) {
  const [said, setSaid] = useState<{ text: string; words: string }>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid({ text, words: "Copied" });
    } catch {
      // Browsers let pages copy only where they came by TLS or from this machine.
      setSaid({ text, words: "This browser does not allow copying: select the text" });
    }
  };
  return (
    <details class="panel">
      <summary>{title}</summary>
      {children && <p class="small">{children}</p>}
      <pre tabIndex={0} aria-label={title}>
        {text}
      </pre>
      <div class="buttons">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status" class="small">
          {said?.text === text && said.words}
        </span>
      </div>
    </details>
  );
}

import type { Cluster } from "../../domain/cluster";
import type { UpgradePreview } from "../../domain/upgrade-preview";
import { factsOf, warningsOf } from "../model/plan-words";
import { productWords } from "../words/product-words";

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
          <h3 id="warnings-title">Before you go on</h3>
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
                {i > 0 && " when the step before is done"}
                {resources.length > 1 && `, ${resources.length} side by side`}
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

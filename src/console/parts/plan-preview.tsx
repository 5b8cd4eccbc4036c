import type { UpgradePreview } from "../../domain/upgrade-preview";

const products = { NETVIRT: "Network virtualization", MGMT: "Management servers", HOSTOS: "Hosts" } as const;

/** What an upgrade would do, in the order in which it would. */
export function PlanPreview({ preview }: { readonly preview: UpgradePreview }) {
  return (
    <>
      <p>
        {preview.name}
        {preview.draftMode && " (as a draft: only prechecks run until it is committed)"}
      </p>
      <ol class="plan">
        {preview.products.map(({ product, resources }) => (
          <li key={product}>
            {products[product]}, {resources.length === 1 ? "one resource" : `${resources.length} side by side`}
            <ul>
              {resources.map(
                ({ resourceId, name, targetVersion, maximumAttempts, scheduledTimestamp, hostsAtOnce }) => (
                  <li key={resourceId}>
                    {name} to {targetVersion}
                    <span class="small">
                      {" "}
                      {scheduledTimestamp === undefined
                        ? "at once"
                        : `at ${new Date(scheduledTimestamp).toLocaleString()}`}
                      {hostsAtOnce !== undefined &&
                        `, ${hostsAtOnce === 1 ? "one host" : `${hostsAtOnce} hosts`} at a time`}
                      {`, ${maximumAttempts === 1 ? "one attempt" : `up to ${maximumAttempts} attempts`} each`}
                    </span>
                  </li>
                ),
              )}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}

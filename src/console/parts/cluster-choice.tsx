import { useState } from "preact/hooks";
import { Cluster } from "../../domain/cluster";
import { usePolled } from "../client/use-polled";
import { fragmentOf } from "../model/page-address";

interface ClusterChoiceProps {
  readonly clusters: readonly Cluster[];
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** The clusters of the inventory, with what one has to know of them to choose. */
export function ClusterChoice({ clusters, chosen, onChange }: ClusterChoiceProps) {
  const [text, setText] = useState("");
  const matching = clusters.filter(({ name, domain }) =>
    `${name} ${domain.name}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <fieldset>
      <legend>Clusters ({chosen.length} chosen)</legend>
      <label class="field">
        Show those whose name or domain holds
        <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <ul class="choices" tabIndex={0} aria-label="Clusters">
        {matching.map((cluster) => (
          <li key={cluster.id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(cluster.id)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange(checked ? [...chosen, cluster.id] : chosen.filter((other) => other !== cluster.id))
                }
              />
              <ClusterFacts cluster={cluster} />
            </label>
            {chosen.includes(cluster.id) && <Versions id={cluster.id} />}
            {cluster.heldBy !== undefined && (
              <a class="small" href={fragmentOf({ page: "UPGRADE", id: cluster.heldBy })}>
                held by another upgrade
              </a>
            )}
            {cluster.errors?.map(({ message }) => (
              <span key={message} class="small">
                {message}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

const kinds = { IMAGE: "image-managed", BASELINE: "baseline-managed" } as const;

function ClusterFacts({ cluster: { name, kind, hostCount, platformVersion } }: { readonly cluster: Cluster }) {
  const facts = [
    kind === undefined ? "kind unknown" : kinds[kind],
    ...(hostCount === undefined ? [] : [`${hostCount} hosts`]),
    `platform ${platformVersion}`,
  ];
  return (
    <span>
      {name} <span class="small">{facts.join(", ")}</span>
    </span>
  );
}

/** The versions of the hosts are asked of the component manager, so only for clusters that matter. */
function Versions({ id }: { readonly id: string }) {
  const { value, error } = usePolled(Cluster, `/v1/clusters/${encodeURIComponent(id)}`, 60_000);
  if (error) return <span class="small">{error.message}</span>;
  if (!value?.versions) return null;
  return <span class="small">hosts run {value.versions.join(", ") || "unknown versions"}</span>;
}

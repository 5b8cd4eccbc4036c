import { useMemo, useState } from "preact/hooks";
import { PageOfBundle } from "../../domain/bundle";
import { PageOfCluster } from "../../domain/cluster";
import { PageOfUpgrade, type Upgrade } from "../../domain/upgrade";
import { usePolled } from "../client/use-polled";
import { fragmentOf } from "../model/page-address";
import { upgradeStatusWords, wordsOfUpgrade } from "../model/status-words";
import { ErrorNote } from "../parts/error-note";
import { StatusBadge } from "../parts/status-badge";

/** All upgrades, read again every few seconds, by status, bundle and cluster. */
export function UpgradeList() {
  const [status, setStatus] = useState("");
  const [bundleId, setBundleId] = useState("");
  const [clusterId, setClusterId] = useState("");
  const query = new URLSearchParams({ ...(status && { status }), ...(bundleId && { bundleId }) }).toString();
  const upgrades = usePolled(PageOfUpgrade, `/v1/upgrades${query && `?${query}`}`, 3000);
  const bundles = usePolled(PageOfBundle, "/v1/bundles", 60_000).value?.elements ?? [];
  const clusters = usePolled(PageOfCluster, "/v1/clusters", 60_000).value?.elements ?? [];
  const names = useMemo(() => new Map(clusters.map(({ id, name }) => [id, name])), [clusters]);
  const shown = (upgrades.value?.elements ?? []).filter(
    (upgrade) => clusterId === "" || clusterIdsOf(upgrade).includes(clusterId),
  );
  return (
    <>
      <div class="headline">
        <h1>Upgrades</h1>
        <a class="button primary" href={fragmentOf({ page: "NEW" })}>
          New upgrade
        </a>
      </div>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Status"
          value={status}
          onChange={setStatus}
          options={upgradeStatusWords.map(({ status, word }) => [status, word])}
        />
        <Choice
          label="Bundle"
          value={bundleId}
          onChange={setBundleId}
          options={bundles.map(({ id, version, description }) => [id, description ?? version ?? id])}
        />
        <Choice
          label="Cluster"
          value={clusterId}
          onChange={setClusterId}
          options={clusters.map(({ id, name }) => [id, name])}
        />
      </form>
      {upgrades.error && <ErrorNote error={upgrades.error} isAlert />}
      {!upgrades.value && !upgrades.error && <p>Reading upgrades…</p>}
      {upgrades.value && shown.length === 0 && <p>There are no such upgrades.</p>}
      <ul class="cards">
        {shown.map((upgrade) => (
          <li key={upgrade.id}>
            <a href={fragmentOf({ page: "UPGRADE", id: upgrade.id })}>
              <StatusBadge words={wordsOfUpgrade(upgrade.status)} />
              <span class="card-title">{titleOf(upgrade, names)}</span>
              <span class="small">{upgrade.bundle?.version ?? upgrade.bundleId}</span>
              {upgrade.endTime !== undefined && (
                <span class="small">ended {new Date(upgrade.endTime).toLocaleString()}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All</option>
        {options.map(([option, word]) => (
          <option key={option} value={option}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

const clusterIdsOf = ({ resourceUpgradeSpecs = [] }: Upgrade) =>
  resourceUpgradeSpecs.map(({ resourceId }) => resourceId);

/** The first clusters by name, and how many more there are. */
function titleOf(upgrade: Upgrade, names: ReadonlyMap<string, string>): string {
  const ids = clusterIdsOf(upgrade);
  const first = ids.slice(0, 3).map((id) => names.get(id) ?? id);
  return ids.length > 3 ? `${first.join(", ")} and ${ids.length - 3} more` : first.join(", ");
}

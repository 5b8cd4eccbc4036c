import { useState } from "preact/hooks";
import { heldError } from "../../domain/hold";
import { maintenanceWords } from "../../domain/maintenance-words";
import { productsOf } from "../../domain/plan/facts";
import { scopeSize } from "../../domain/plan/host-scope";
import type { Bundle } from "../../domain/spec/bundle";
import { Cluster } from "../../domain/spec/cluster";
import { usePolled } from "../client/ask-api";
import { productWords } from "../labels/line-labels";
import { obstacleOf, unfitnessOf } from "../model/cluster-obstacle";
import { plural } from "../model/labels";
import { exactTime } from "../model/local-time";
import { fragmentOf } from "../model/page-address";
import type { ChosenCluster } from "../model/upgrade-form";
import { fieldId, useForm } from "./form-context";
import { HostChoice } from "./host-choice";
import { FieldNotes, useDescription } from "./spec-fields";

const label = "Bundle";

/** Which bundle is installed, and what it brings. One that cannot be installed now says why. */
export function BundleChoice({ bundles }: { readonly bundles: readonly Bundle[] }) {
  const { form, change } = useForm();
  const chosen = bundles.find(({ id }) => id === form.bundleId);
  const isUnknown = form.bundleId !== "" && !chosen;
  return (
    <div class="spec-field">
      <label for="field-bundleId">{label}</label>
      <select
        {...useDescription("bundleId")}
        value={form.bundleId}
        onChange={(event) => change(["bundleId"], event.currentTarget.value)}
      >
        <option value="">Choose one</option>
        {isUnknown && <option value={form.bundleId}>{form.bundleId} (not in the catalog)</option>}
        {bundles.map((bundle) => (
          <option key={bundle.id} value={bundle.id} disabled={obstacle(bundle) !== undefined}>
            {[bundle.description, bundle.version].filter(Boolean).join(", ") || bundle.id}
            {obstacle(bundle) !== undefined && ` (${obstacle(bundle)})`}
          </option>
        ))}
      </select>
      <FieldNotes
        path="bundleId"
        words={{ label, hint: chosen ? factsOf(chosen) : "The versions that are installed." }}
      />
    </div>
  );
}

function obstacle({ downloadStatus = "PENDING" }: Bundle): string | undefined {
  if (downloadStatus === "SUCCESSFUL") return undefined;
  return downloadStatus === "RECALLED" ? "recalled by its vendor" : "not downloaded";
}

function factsOf(bundle: Bundle): string {
  const products = productsOf(bundle).map((product) => {
    const version = bundle.components?.find(({ type }) => type === product)?.toVersion;
    return version === undefined ? productWords[product] : `${productWords[product]} ${version}`;
  });
  const facts = [bundle.severity?.toLowerCase(), bundle.releasedDate && `released ${bundle.releasedDate}`].filter(
    Boolean,
  );
  const brings = `Brings ${products.join(", ") || "nothing that can be upgraded"}`;
  return facts.length === 0 ? brings : `${brings} (${facts.join(", ")})`;
}

interface ClusterChoiceProps {
  readonly clusters: readonly Cluster[];
  /** A check looks at whole clusters, and at those that an upgrade has locked too. */
  readonly isForCheck?: boolean;
}

/** The clusters of the inventory, with what one has to know of them to choose, and why some cannot be chosen. */
export function ClusterChoice({ clusters, isForCheck = false }: ClusterChoiceProps) {
  const { form, change, problemAt } = useForm();
  const [text, setText] = useState("");
  const obstacleFor = isForCheck ? unfitnessOf : obstacleOf;
  const chosen = form.clusters.map(({ resourceId }) => resourceId);
  const matching = clusters.filter(({ id, name, domain }) =>
    `${name} ${domain.name} ${id}`.toLowerCase().includes(text.toLowerCase()),
  );
  const free = matching.filter((cluster) => !chosen.includes(cluster.id) && !obstacleFor(cluster));
  const unknown = chosen.filter((id) => !clusters.some((cluster) => cluster.id === id));
  const choose = (id: string, isChosen: boolean) =>
    change(
      ["clusters"],
      isChosen ? [...form.clusters, { resourceId: id }] : form.clusters.filter(({ resourceId }) => resourceId !== id),
    );
  return (
    <fieldset
      id={fieldId("clusters")}
      tabIndex={-1}
      {...(problemAt("clusters") && { "aria-describedby": `${fieldId("clusters")}-error` })}
    >
      <legend>Clusters ({totals(form.clusters, clusters)})</legend>
      <FieldNotes path="clusters" words={{ label: "Clusters", hint: "" }} />
      {clusters.length > 5 && (
        <label class="field">
          Show those whose name, domain or id holds
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      <ul class="choices" tabIndex={0} aria-label="Clusters">
        {matching.map((cluster) => (
          <ClusterRow
            key={cluster.id}
            cluster={cluster}
            place={chosen.indexOf(cluster.id)}
            obstacle={obstacleFor(cluster)}
            isForCheck={isForCheck}
            showsVersions={chosen.length <= mostAsked}
            onChoose={(isChosen) => choose(cluster.id, isChosen)}
          />
        ))}
        {unknown.map((id) => (
          <li key={id}>
            <label class="check">
              <input type="checkbox" checked onChange={() => choose(id, false)} />
              {id}
            </label>
            <span class="field-error">not in the inventory</span>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button
          type="button"
          disabled={free.length === 0}
          onClick={() => change(["clusters"], [...form.clusters, ...free.map(({ id }) => ({ resourceId: id }))])}
        >
          Choose all{text === "" ? "" : " of these"} ({free.length})
        </button>
        <button type="button" disabled={chosen.length === 0} onClick={() => change(["clusters"], [])}>
          Choose none
        </button>
      </div>
    </fieldset>
  );
}

/** Of how many clusters the versions of their hosts are asked for here; those of more the plan tells at once. */
const mostAsked = 12;

function totals(chosen: readonly ChosenCluster[], clusters: readonly Cluster[]): string {
  const hosts = chosen.reduce((sum, { resourceId, hosts: scope }) => {
    const { hostCount } = clusters.find(({ id }) => id === resourceId) ?? {};
    return sum + (hostCount === undefined ? 0 : scopeSize(scope, hostCount));
  }, 0);
  return `${chosen.length} chosen${hosts > 0 ? `, ${plural(hosts, "host")}` : ""}`;
}

interface ClusterRowProps {
  readonly cluster: Cluster;
  /** Index among the chosen ones; -1 where it is not. */
  readonly place: number;
  /** Why it cannot be chosen. */
  readonly obstacle: string | undefined;
  readonly isForCheck: boolean;
  readonly showsVersions: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

function ClusterRow({ cluster, place, obstacle, isForCheck, showsVersions, onChoose }: ClusterRowProps) {
  const isChosen = place >= 0;
  const path = isChosen ? `clusters[${place}]` : cluster.id;
  return (
    <li>
      <label class={obstacle && !isChosen ? "check off" : "check"}>
        <input
          type="checkbox"
          {...useDescription(path)}
          checked={isChosen}
          // One that was chosen before it was held can still be taken away.
          disabled={obstacle !== undefined && !isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <ClusterFacts cluster={cluster} />
      </label>
      {isChosen && showsVersions && <Versions id={cluster.id} />}
      <span class="small" id={`${fieldId(path)}-hint`}>
        {obstacle}{" "}
        {cluster.heldBy !== undefined && !isForCheck && (
          <a href={fragmentOf({ page: "UPGRADE", id: cluster.heldBy })}>Show that upgrade</a>
        )}
        {cluster.hold && `${heldError(cluster.hold).message} ${isForCheck ? "" : "Only a draft can be created. "}`}
        {cluster.errors?.map(({ message }) => message).join(" ")}
      </span>
      <FieldNotes path={path} words={{ label: cluster.name, hint: "" }} />
      {isChosen && !isForCheck && <HostChoice cluster={cluster} place={place} />}
    </li>
  );
}

const kinds = { IMAGE: "image-managed", BASELINE: "baseline-managed" } as const;

function ClusterFacts({ cluster }: { readonly cluster: Cluster }) {
  const { name, kind, hostCount, domain, maintenance } = cluster;
  const facts = [
    domain.name,
    kind === undefined ? "kind unknown" : kinds[kind],
    ...(hostCount === undefined ? [] : [plural(hostCount, "host")]),
    ...(maintenance ? [`window ${maintenanceWords(maintenance, (at) => exactTime(Date.parse(at)))}`] : []),
  ];
  return (
    <span>
      <span class="name">{name}</span> <span class="small">{facts.join(", ")}</span>
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

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { durationWords } from "../../domain/duration";
import type { UpgradePreview } from "../../domain/plan/preview";
import { PageOfUpgrade } from "../../domain/spec/upgrade";
import { usePolled } from "../client/ask-api";
import { serverNow } from "../client/send-request";
import { productWords } from "../labels/line-labels";
import { plural } from "../model/labels";
import { fragmentOf } from "../model/page-address";
import {
  hostWords,
  lastOfSame,
  planFacts,
  type ResourceGroup,
  resourceGroups,
  warningsOf,
  wavePartWords,
  type WaveRun,
  waveRuns,
} from "../model/plan-words";
import { Moment } from "./moment";

/** How many resources or waves are listed without being asked for. */
const mostShown = 8;
/** How many waves are listed when a run of them is opened. */
const mostWaves = 20;

const nothingLeftOut: ReadonlyMap<string, readonly string[]> = new Map();

interface PlanPreviewProps {
  readonly preview: UpgradePreview;
  /** By cluster id: fields that were left out for its kind. */
  readonly leftOut?: ReadonlyMap<string, readonly string[]>;
}

/** What an upgrade does, in the order in which it does, what it comes to, and what to think of before. */
export function PlanPreview({ preview, leftOut = nothingLeftOut }: PlanPreviewProps) {
  const warnings = warningsOf(preview, leftOut);
  return (
    <>
      <p>
        {preview.name}
        {preview.draftMode && " (as a draft: only prechecks run until it is committed)"}
      </p>
      <dl class="facts">
        {planFacts(preview).map(({ term, words }) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{words}</dd>
          </div>
        ))}
        {preview.expectedSeconds === undefined && <LastTime preview={preview} />}
      </dl>
      {warnings.length > 0 && (
        <section class="warnings" aria-labelledby="plan-warnings-title">
          <h3 id="plan-warnings-title">Before you continue</h3>
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
              {resourceGroups(resources).map((group) => (
                <Group key={group.resources[0]?.resourceId} group={group} isServer={product !== "HOSTOS"} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
      <Waves runs={waveRuns(preview.waves)} />
    </>
  );
}

function Group({ group, isServer }: { readonly group: ResourceGroup; readonly isServer: boolean }) {
  const { targetVersion, facts, resources } = group;
  const [only] = resources;
  const lines = () => (
    <ul class="small">
      {resources.map((resource) => (
        <li key={resource.resourceId}>
          <span class="name">{resource.name}</span>
          {hostWords(resource) !== "" && `: ${hostWords(resource)}`}
        </li>
      ))}
    </ul>
  );
  const howMany = plural(resources.length, isServer ? "server" : "cluster");
  return (
    <li>
      <span class="name">{resources.length === 1 ? only?.name : howMany}</span> to {targetVersion}
      <ul class="small">
        {resources.length === 1 && only && hostWords(only) !== "" && <li>{hostWords(only)}</li>}
        {facts.map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
      {resources.length > 1 &&
        (resources.length > mostShown ? <Folded title={`Show the ${howMany}`}>{lines}</Folded> : lines())}
    </li>
  );
}

/** What runs beside what. Waves that are alike are one line, and their hosts are in the page only while it is open. */
function Waves({ runs }: { readonly runs: readonly WaveRun[] }) {
  const [isWhole, setWhole] = useState(false);
  if (runs.length === 0) return null;
  const shown = isWhole ? runs : runs.slice(0, mostShown);
  return (
    <section aria-labelledby="waves-title">
      <h3 id="waves-title">What runs in parallel</h3>
      <p class="small">If every step takes as long as another. Hosts that are done already are not in it.</p>
      <ol class="waves">
        {shown.map((run) => (
          <li key={`${run.product} ${run.first}`}>
            <Folded
              title={`${productWords[run.product]}, ${nameOfRun(run)}: ${run.words}${run.waves.length > 1 ? " each" : ""}`}
            >
              {() => <WaveList waves={run.waves} />}
            </Folded>
          </li>
        ))}
      </ol>
      {runs.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {runs.length - shown.length} more
        </button>
      )}
    </section>
  );
}

function nameOfRun({ first, waves }: WaveRun): string {
  return waves.length === 1 ? `wave ${first}` : `waves ${first} to ${first + waves.length - 1}`;
}

function WaveList({ waves }: Pick<WaveRun, "waves">) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? waves : waves.slice(0, mostWaves);
  return (
    <>
      <ul class="small">
        {shown.map((wave) => (
          <li key={wave.wave}>
            Wave {wave.wave}: {wavePartWords(wave)}
          </li>
        ))}
      </ul>
      {waves.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {waves.length - shown.length} more
        </button>
      )}
    </>
  );
}

interface FoldedProps {
  readonly title: string;
  readonly children: () => ComponentChildren;
}

function Folded({ title, children }: FoldedProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
}

/** How long the last upgrade of just the same resources has worked: no promise, and nothing where there was none. */
function LastTime({ preview }: { readonly preview: UpgradePreview }) {
  const first = preview.products[0]?.resources[0]?.resourceId ?? "";
  const query = new URLSearchParams({
    resourceId: first,
    phase: "SUCCEEDED,SUCCEEDED_WITH_WARNINGS",
    sort: "ended",
    pageNumber: "0",
    pageSize: "20",
  });
  const earlier = usePolled(PageOfUpgrade, `/v1/upgrades?${query.toString()}`, 60_000).value?.elements ?? [];
  const last = lastOfSame(earlier, preview);
  if (!last) return null;
  const { id, workSeconds = 0, hosts, endTime } = last;
  return (
    <div>
      <dt>The last time</dt>
      <dd>
        <a href={fragmentOf({ page: "UPGRADE", id })}>worked {durationWords(workSeconds * 1000)}</a>
        {hosts && ` for ${plural(hosts.done, "host")}`}
        {endTime !== undefined && (
          <>
            , ended <Moment at={endTime} now={serverNow()} />
          </>
        )}
      </dd>
    </div>
  );
}

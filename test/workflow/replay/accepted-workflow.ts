import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isReleased } from "./released";
import { sourceChanges, type WorkflowSources } from "./workflow-sources";

const file = resolve(__dirname, "accepted-workflow.json");

/** The Workflow code that was accepted last (docs/decisions/0022). */
export interface AcceptedWorkflow extends WorkflowSources {
  /** The version of package.json. */
  readonly release: string;
  /** Why it may run on what older builds have begun, in the words of whoever accepted it. */
  readonly because: string;
  /** The ids of all its patches. */
  readonly patches: readonly string[];
}

export function acceptedWorkflow(): AcceptedWorkflow {
  return JSON.parse(readFileSync(file, "utf8")) as AcceptedWorkflow;
}

export function storeAccepted(accepted: AcceptedWorkflow): void {
  writeFileSync(file, `${JSON.stringify(accepted, null, 2)}\n`);
}

/** How somebody says that a change is safe. */
export type Claim = { readonly sameCommands: true } | { readonly patched: string } | { readonly recordedAnew: true };

/** What is known of a change that somebody wants to be accepted. */
export interface ChangeFacts {
  /** That of package.json. */
  readonly version: string;
  readonly claim: Claim;
  readonly accepted: Pick<AcceptedWorkflow, "patches">;
  /** The ids of the patches in the code now. */
  readonly patches: readonly string[];
  /** Names of stored histories that do not replay. */
  readonly broken: readonly string[];
  /** Of each patch, how many stored histories have its marker. */
  readonly markers: ReadonlyMap<string, number>;
}

/** Why a change is not accepted, a sentence each; nothing where it is. */
export function refusals({ version, claim, accepted, patches, broken, markers }: ChangeFacts): string[] {
  const added = patches.filter((id) => !accepted.patches.includes(id));
  const claimed = "patched" in claim ? claim.patched : undefined;
  const reasons: string[] = [];
  if ("recordedAnew" in claim && isReleased(version))
    reasons.push("From 1.0.0 on stored histories stay: put what changes commands behind patched().");
  if (broken.length > 0)
    reasons.push(
      `${broken.length} stored histories do not replay (${broken.slice(0, 5).join(", ")}${broken.length > 5 ? ", …" : ""}): ` +
        (isReleased(version)
          ? "upgrades that are there would stand still. Put what changes commands behind patched()."
          : `record all of them anew (${record}).`),
    );
  if (claimed !== undefined && !added.includes(claimed))
    reasons.push(
      patches.includes(claimed)
        ? `patched("${claimed}") was accepted before: a patch says once what has changed. Take another id.`
        : `No Workflow calls patched("${claimed}").`,
    );
  for (const id of added) {
    if ("sameCommands" in claim)
      reasons.push(`patched("${id}") is new: say --patched ${id} instead of --same-commands.`);
    if (!markers.get(id))
      reasons.push(
        `No stored history has the marker of patched("${id}"): record a story that passes it (${record} --as ${id} STORY).`,
      );
  }
  return reasons;
}

const record = "node --import tsx test/workflow/replay/record-histories.ts";
const accept = "node --import tsx test/workflow/replay/accept-workflow-change.ts";

const stepsBefore = `Before 1.0.0 no upgrade has to go on with it, but the stored histories have to be those of this code.
1. If anything changes that a Workflow asks for (Activities, timers, children, Signals, memo, their order), record all
   histories anew:
     ${record}
2. Accept it, which replays them, and commit test/workflow/replay/accepted-workflow.json and the histories with your change:
     ${accept} --recorded-anew --because "…"
     ${accept} --same-commands --because "…"`;

const stepsFromThen = `Upgrades that began days ago will be replayed with it.
1. Run npm test -- replay. If a history breaks, what the Workflow asks for has changed: put that behind patched("ID").
2. If anything changes that a Workflow asks for (Activities, timers, children, Signals, memo, their order), also where no
   history breaks: put it behind patched("ID") and record a story that passes it:
     ${record} --as ID STORY
3. Accept it, which replays all histories once more, and commit test/workflow/replay/accepted-workflow.json with your change:
     ${accept} --patched ID --because "…"
     ${accept} --same-commands --because "…"`;

/** What to do about Workflow code that is not what was accepted; undefined where it is. `version`: that of package.json. */
export function whatToDo(version: string, accepted: WorkflowSources, now: WorkflowSources): string | undefined {
  const changes = sourceChanges(accepted, now);
  if (changes.length === 0) return undefined;
  return [
    "The code of the Workflows is not what was accepted last:",
    ...changes.map((change) => `  ${change}`),
    isReleased(version) ? stepsFromThen : stepsBefore,
    "docs/deploys.md tells the rest.",
  ].join("\n");
}

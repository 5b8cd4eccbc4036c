/**
 * Accepts a change of Workflow code after a replay of all stored histories, and says why it is safe:
 *
 *     node --import tsx test/workflow/replay/accept-workflow-change.ts --recorded-anew --because "…"
 *     node --import tsx test/workflow/replay/accept-workflow-change.ts --patched ID --because "…"
 *     node --import tsx test/workflow/replay/accept-workflow-change.ts --same-commands --because "…"
 *
 * `--recorded-anew`, before version 1.0.0 only: commands change, and the stored histories are those of the code as it is.
 * `--patched`: commands change behind a new patch, whose new side is among the stored histories. `--same-commands`: the
 * Workflows ask for the same as before, in the same order. Writes accepted-workflow.json, or says what is missing.
 */
import { parseArgs } from "node:util";
import { version } from "../../../package.json";
import { acceptedWorkflow, refusals, storeAccepted, type Claim } from "./accepted-workflow";
import { patchesIn, patchIds } from "./patches";
import { productionBundle, replayAll } from "./replay";
import { storedHistories } from "./stored-histories";
import { sourceChanges, workflowSources } from "./workflow-sources";

async function main(): Promise<string> {
  const { because, claim } = asked();
  const [accepted, sources, patches] = [acceptedWorkflow(), await workflowSources(), await patchIds()];
  const changes = sourceChanges(accepted, sources);
  if (changes.length === 0) return "The code of the Workflows is what was accepted last.";
  const histories = storedHistories();
  const results = await replayAll(await productionBundle(), histories);
  const broken = histories
    .filter(({ runId }) => results.get(runId) !== undefined)
    .map(({ folder, story, part }) => `${folder}/${story}.${part}`);
  const markers = new Map(
    patches.map((id) => [id, histories.filter(({ history }) => patchesIn(history).includes(id)).length]),
  );
  const reasons = refusals({ version, claim, accepted, patches, broken, markers });
  if (reasons.length > 0) throw new Error(["Not accepted:", ...reasons].join("\n  "));
  storeAccepted({ release: version, because, patches, ...sources });
  return [`${histories.length} histories replay. Accepted:`, ...changes].join("\n  ");
}

function asked(): { because: string; claim: Claim } {
  const { values } = parseArgs({
    options: {
      because: { type: "string" },
      patched: { type: "string" },
      "recorded-anew": { type: "boolean" },
      "same-commands": { type: "boolean" },
    },
  });
  const { because = "", patched, "recorded-anew": recordedAnew, "same-commands": sameCommands } = values;
  if (because.trim() === "") throw new Error('Why is it safe? Say --because "…".');
  const claims: Claim[] = [
    ...(recordedAnew ? [{ recordedAnew }] : []),
    ...(sameCommands ? [{ sameCommands }] : []),
    ...(patched === undefined ? [] : [{ patched }]),
  ];
  const [claim, another] = claims;
  if (!claim || another) throw new Error("Say one of --recorded-anew, --same-commands and --patched ID.");
  return { because, claim };
}

main().then(
  (said) => process.stdout.write(`${said}\n`),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);

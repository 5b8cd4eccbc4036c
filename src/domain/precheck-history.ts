import type { SubTask } from "./task";

/** How many resources of earlier runs a Task keeps with their checks: it has to fit into a payload of Temporal. */
const keptResources = 128;

/**
 * Earlier runs of the prechecks as a Task keeps them when another one begins, the oldest first. All runs stay, the
 * later ones whole; of those before as many resources as there is room for, failed ones first.
 */
export function keepRuns(runs: readonly SubTask[]): SubTask[] {
  let room = keptResources;
  return runs
    .toReversed()
    .map((run) => {
      const kept = keepResources(run, room);
      room -= kept.subTasks?.length ?? 0;
      return kept;
    })
    .toReversed();
}

function keepResources(run: SubTask, room: number): SubTask {
  const resources = run.subTasks ?? [];
  if (resources.length <= room) return run;
  const byNeed = [...resources.filter(hasFailed), ...resources.filter((resource) => !hasFailed(resource))];
  const kept = new Set(byNeed.slice(0, room));
  return {
    ...run,
    ...(!run.isTruncated && {
      isTruncated: true,
      description: `${run.description} Not all resources of so early a run are kept.`,
    }),
    subTasks: resources.filter((resource) => kept.has(resource)),
  };
}

function hasFailed({ status }: SubTask): boolean {
  return status === "FAILED";
}

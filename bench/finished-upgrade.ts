import { specOf } from "./fleet";
import type { Stage } from "./stage";

/** How often it is looked whether an upgrade has failed, in milliseconds; seldom enough to disturb nothing. */
const lookEvery = 2000;

/** Runs an upgrade of the first clusters to its end, and gives its id. Throws where it does not succeed. */
export async function finishedUpgrade(stage: Stage, clusters: number): Promise<string> {
  const { id } = await stage.service.startUpgrade(specOf(0, clusters));
  await untilFinished(stage, id);
  return id;
}

/** Resolves when an upgrade has succeeded. Throws where it has not. */
export async function untilFinished({ temporal }: Pick<Stage, "temporal">, id: string): Promise<void> {
  const query = `WorkflowId = '${id}' AND TaskStatus = 'Failed'`;
  // One that has failed stays open for a week, and its result does not come.
  let hasFailed: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (hasFailed = reject));
  const look = setInterval(() => {
    void temporal.workflow.count(query).then(({ count }) => {
      if (count > 0) hasFailed(new Error(`Upgrade ${id} has failed`));
    }, hasFailed);
  }, lookEvery);
  try {
    await Promise.race([temporal.workflow.getHandle(id).result(), failed]);
  } finally {
    clearInterval(look);
  }
}

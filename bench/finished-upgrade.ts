import { specOf } from "./fleet";
import type { Stage } from "./stage";

/** How often it is looked whether an upgrade has failed, in milliseconds; seldom enough to disturb nothing. */
const lookEvery = 2000;

/** Runs an upgrade of the first clusters to its end, and gives its id. Throws where it does not succeed. */
export async function finishedUpgrade({ service, temporal }: Stage, clusters: number): Promise<string> {
  const { id } = await service.startUpgrade(specOf(0, clusters));
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
    return id;
  } finally {
    clearInterval(look);
  }
}

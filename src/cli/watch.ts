import { legible } from "../domain/legible";
import type { Task } from "../domain/spec/task";
import type { CommandContext } from "./command-context";
import { displayFor } from "./display";
import { CliError, exitCode, type ExitCode } from "./errors";
import { followTask } from "./follow-task";
import { nextStepOf, outcomeOf } from "./progress-tree";
import { wordOf } from "./text";

/**
 * Follows a Task to its end: a picture in a terminal, a line for each change elsewhere, and with `-o json` each event as
 * JSON on a line. `isKnown`: the service has told of it before, so its absence will pass.
 */
export async function watch(context: CommandContext, id: string, { isKnown = false } = {}): Promise<ExitCode> {
  const { client, environment } = context;
  const display = displayFor(context);
  let task: Task | undefined;
  let hasEnded = false;
  try {
    for await (const followed of followTask(client, environment, id, isKnown)) {
      switch (followed.type) {
        case "TASK":
          task = followed.task;
          display.show(followed);
          break;
        case "TROUBLE":
          display.notice(`${legible(followed.message)} The upgrade continues; reconnecting.`);
          break;
        case "AGAIN":
          display.notice(undefined);
          break;
        case "END":
          hasEnded = true;
          break;
      }
    }
  } catch (error) {
    throw afterwards(error, id, isKnown || task !== undefined);
  } finally {
    display.close(task, hasEnded);
  }
  if (!task)
    throw new CliError(exitCode.failed, `The service sent no data for ${id}.`, `Try \`upgradectl get ${id}\`.`);
  // In full, which a picture has no room for. A Task keeps what failed before a retry.
  const label = task.status === "Successful" ? "Before the retry" : wordOf(task.status);
  for (const { message } of task.errors ?? []) context.say(`${label}: ${message}`);
  const next = nextStepOf(task);
  if (next !== "") context.say(`Next: ${next}`);
  return outcomeOf(task.status) ?? exitCode.successful;
}

/** Whoever stops watching is told that nothing else has stopped, and how to come back. */
function afterwards(error: unknown, id: string, isKnown: boolean): unknown {
  if (!(error instanceof CliError)) return error;
  const { code, message } = error;
  const comeBack = `\`upgradectl watch ${id}\``;
  if (code === exitCode.interrupted)
    return new CliError(code, "No longer watching; the upgrade continues.", `Look again with ${comeBack}.`);
  if (code === exitCode.notReachable && isKnown)
    return new CliError(code, message, `The upgrade continues. When the service is back, ${comeBack}.`, {
      cause: error,
    });
  return error;
}

import { createLogUpdate } from "log-update";
import type { Task } from "../domain/task";
import { CliError } from "./cli-error";
import { exitCode, type ExitCode } from "./exit-code";
import { followTask } from "./follow-task";
import { drawTask } from "./progress-tree";
import { styleFor } from "./style";
import type { CommandContext } from "./command-context";
import { linesOfChange } from "./task-lines";
import { nextStepOf, outcomeOf, printable } from "./task-parts";

/** Shows a Task while it changes. */
interface Display {
  show(task: Task): void;
  notice(message: string | undefined): void;
  close(): void;
}

/** How often a terminal is drawn again at most, and how often for the clock in it, in milliseconds. */
const frameMilliseconds = 100;
const clockMilliseconds = 1000;

/**
 * Follows an upgrade to its end: bars in a terminal, a line for each change elsewhere. With `-o json` the lines are
 * messages and the Task at the end is the result.
 */
export async function watch(context: CommandContext, id: string): Promise<ExitCode> {
  const { client, surroundings, isJson } = context;
  const output = isJson ? surroundings.stderr : surroundings.stdout;
  const isTerminal = output.isTTY === true && surroundings.env["TERM"] !== "dumb";
  const display = isTerminal ? terminalDisplay(context) : lineDisplay(context);
  let task: Task | undefined;
  try {
    for await (const followed of followTask(client, surroundings, id)) {
      switch (followed.type) {
        case "TASK":
          task = followed.task;
          display.show(task);
          break;
        case "TROUBLE":
          display.notice(`${printable(followed.message)} The upgrade goes on without us; trying again.`);
          break;
        case "AGAIN":
          display.notice(undefined);
          break;
        case "END":
          break;
      }
    }
  } catch (error) {
    if (error instanceof CliError && error.code === exitCode.interrupted)
      throw new CliError(
        error.code,
        "No longer watching; the upgrade goes on.",
        `Look again with \`upgradectl watch ${id}\`.`,
      );
    throw error;
  } finally {
    display.close();
  }
  if (!task) throw new CliError(exitCode.failed, `The service told nothing of ${id}.`, `Try \`upgradectl get ${id}\`.`);
  if (isJson) context.printJson(task);
  const next = nextStepOf(task);
  if (next !== "" && !isTerminal) context.say(`Next: ${printable(next)}`);
  return outcomeOf(task.status) ?? exitCode.successful;
}

function lineDisplay({ surroundings, isJson }: CommandContext): Display {
  const output = isJson ? surroundings.stderr : surroundings.stdout;
  let shown: Task | undefined;
  let isAway = false;
  const print = (line: string) => output.write(`${new Date(surroundings.now()).toISOString()} ${line}\n`);
  return {
    show(task) {
      linesOfChange(shown, task, surroundings.now()).forEach(print);
      shown = task;
    },
    notice(message) {
      if (message !== undefined) print(message);
      else if (isAway) print("Following again.");
      isAway = message !== undefined;
    },
    close() {},
  };
}

function terminalDisplay({ surroundings, isJson }: CommandContext): Display {
  const output = isJson ? surroundings.stderr : surroundings.stdout;
  const style = styleFor(output, surroundings);
  const draw = createLogUpdate(output as NodeJS.WritableStream);
  let task: Task | undefined;
  let notice: string | undefined;
  let soon: NodeJS.Timeout | undefined;
  const render = (rows = (output.rows ?? 24) - 1) => {
    clearTimeout(soon);
    soon = undefined;
    // The last column stays free: terminals differ in what they do after it.
    const columns = (output.columns ?? 80) - 1;
    if (task) draw(drawTask(task, { columns, rows, style, now: surroundings.now(), notice }).join("\n"));
  };
  const later = () => (soon ??= setTimeout(render, frameMilliseconds));
  const clock = setInterval(later, clockMilliseconds);
  return {
    show(changed) {
      task = changed;
      later();
    },
    notice(message) {
      notice = message;
      later();
    },
    close() {
      clearInterval(clock);
      render();
      draw.done();
    },
  };
}

import type { Task } from "../domain/task";
import type { Display } from "./display";
import { printable } from "./printable";
import type { CommandContext } from "./command-context";
import { screenDisplay } from "./screen-display";
import type { Surroundings } from "./surroundings";
import { linesOfChange } from "./task-lines";

/** A picture in a terminal, JSON for scripts, and for logs a line for each change. */
export function displayFor(context: CommandContext): Display {
  const { surroundings, isJson } = context;
  if (isJson) return jsonDisplay(context);
  const isTerminal = surroundings.stdout.isTTY === true && surroundings.env["TERM"] !== "dumb";
  return isTerminal ? screenDisplay(surroundings) : lineDisplay(surroundings);
}

/** The events of the stream, each on a line of the standard output, and the whole Task at its end. */
function jsonDisplay(context: CommandContext): Display {
  const notices = new Notices((line) => context.say(line));
  return {
    show: ({ task, change }) =>
      context.printJsonLine(change ? { event: "change", change } : { event: "snapshot", task }),
    notice: (message) => notices.tell(message),
    close(task, hasEnded) {
      if (task && hasEnded) context.printJsonLine({ event: "end", task });
    },
  };
}

function lineDisplay(surroundings: Surroundings): Display {
  const print = (line: string) =>
    surroundings.stdout.write(`${new Date(surroundings.now()).toISOString()} ${printable(line)}\n`);
  const notices = new Notices(print);
  let shown: Task | undefined;
  return {
    show({ task }) {
      linesOfChange(shown, task, surroundings.now()).forEach(print);
      shown = task;
    },
    notice: (message) => notices.tell(message),
    close() {},
  };
}

/** Notices as lines: the first of a trouble, and its end. */
class Notices {
  private isAway = false;
  constructor(private readonly print: (line: string) => void) {}

  tell(message: string | undefined): void {
    if (message !== undefined) this.print(message);
    else if (this.isAway) this.print("Following again.");
    this.isAway = message !== undefined;
  }
}

import {
  clearViewport,
  cursorHide,
  cursorShow,
  cursorTo,
  enterAlternativeScreen,
  eraseDown,
  eraseEndLine,
  exitAlternativeScreen,
  synchronizedOutput,
} from "ansi-escapes";
import { legible } from "../domain/legible";
import type { SubTask, Task } from "../domain/spec/task";
import { Upgrade } from "../domain/spec/upgrade";
import { precheckRunOf } from "../domain/task/prechecks";
import type { CommandContext } from "./command-context";
import type { Environment } from "./environment";
import type { Followed } from "./follow-task";
import { drawTask, headline, summary } from "./progress-tree";
import { cut, styleFor, wordOf } from "./text";

/** A picture in a terminal, JSON for scripts, and for logs a line for each change. */
export function displayFor(context: CommandContext): Display {
  const { environment, isJson } = context;
  if (isJson) return jsonDisplay(context);
  const isTerminal = environment.stdout.isTTY === true && environment.env["TERM"] !== "dumb";
  return isTerminal ? screenDisplay(context) : lineDisplay(environment);
}

/** The events of the stream, each on a line of the standard output, and the whole Task at its end. */
function jsonDisplay(context: CommandContext): Display {
  const notices = new OutageNotices((line) => context.say(line));
  return {
    show: ({ task, change }) =>
      context.printJsonLine(change ? { event: "change", change } : { event: "snapshot", task }),
    notice: (message) => notices.tell(message),
    close(task, hasEnded) {
      if (task && hasEnded) context.printJsonLine({ event: "end", task });
    },
  };
}

function lineDisplay(environment: Environment): Display {
  const print = (line: string) =>
    environment.stdout.write(`${new Date(environment.now()).toISOString()} ${legible(line)}\n`);
  const notices = new OutageNotices(print);
  let shown: Task | undefined;
  return {
    show({ task }) {
      linesOfChange(shown, task, environment.now()).forEach(print);
      shown = task;
    },
    notice: (message) => notices.tell(message),
    close() {},
  };
}

/** Prints each notice as a line, and one more when the Task can be followed again. */
class OutageNotices {
  private isAway = false;
  constructor(private readonly print: (line: string) => void) {}

  tell(message: string | undefined): void {
    if (message !== undefined) this.print(message);
    else if (this.isAway) this.print("Following again.");
    this.isAway = message !== undefined;
  }
}

/** Shows a Task while it changes. A notice says why it cannot be followed at the moment; `undefined` that it can be again. */
interface Display {
  show(followed: Extract<Followed, { type: "TASK" }>): void;
  notice(message: string | undefined): void;
  /** `task` as it was last, where anything is known of it; `hasEnded` tells that it will not change. */
  close(task: Task | undefined, hasEnded: boolean): void;
}

/** How often a terminal is drawn again at most, and how often for the clock in it, in milliseconds. */
const frameMilliseconds = 100;
const clockMilliseconds = 1000;

/** How often what a Task does not tell is asked for at most. */
const factsMilliseconds = 10_000;

/**
 * A picture on the terminal's second screen, so that a new size leaves nothing of an old picture behind and what stood in
 * the terminal before comes back. The last picture stays on the first screen. `picture` gives at most this many lines.
 */
export class Screen {
  private soon: NodeJS.Timeout | undefined;
  private release: (() => void) | undefined;
  private readonly clock: NodeJS.Timeout;

  constructor(
    private readonly environment: Environment,
    private readonly picture: (room: { readonly columns: number; readonly rows: number }) => readonly string[],
  ) {
    this.clock = setInterval(() => this.drawSoon(), clockMilliseconds);
    environment.stdout.on?.("resize", this.resized);
  }

  /** Draws it again, with all that has changed in the next moment. */
  drawSoon(): void {
    this.soon ??= setTimeout(() => this.draw(), frameMilliseconds);
  }

  /** Gives the terminal back, then prints the last picture there. */
  close(): void {
    const { stdout } = this.environment;
    clearInterval(this.clock);
    clearTimeout(this.soon);
    stdout.off?.("resize", this.resized);
    if (this.release) {
      this.release();
      this.leave();
    }
    for (const line of this.lines()) stdout.write(`${line}\n`);
  }

  private readonly resized = () => {
    if (!this.release) return;
    this.environment.stdout.write(clearViewport);
    this.draw();
  };

  private lines(): readonly string[] {
    const { columns = 80, rows = 24 } = this.environment.stdout;
    // The last column stays free: terminals differ in what they do after it.
    return this.picture({ columns: Math.max(columns - 1, 1), rows: Math.max(rows, 2) - 1 });
  }

  private draw(): void {
    clearTimeout(this.soon);
    this.soon = undefined;
    if (!this.release) {
      this.enter();
      this.release = this.environment.holdTerminal(
        () => this.leave(),
        () => {
          this.enter();
          this.draw();
        },
      );
    }
    const lines = this.lines().map((line) => line + eraseEndLine);
    this.environment.stdout.write(synchronizedOutput(`${cursorTo(0, 0)}${lines.join("\r\n")}\r\n${eraseDown}`));
  }

  private enter(): void {
    this.environment.stdout.write(enterAlternativeScreen + cursorHide + clearViewport);
  }

  private leave(): void {
    this.environment.stdout.write(exitAlternativeScreen + cursorShow);
  }
}

/** A Task, and the time that the rest of it is expected to take. */
function screenDisplay({ environment, client }: CommandContext): Display {
  const style = styleFor(environment.stdout, environment);
  let task: Task | undefined;
  let upgrade: Upgrade | undefined;
  let notice: string | undefined;
  let askedAt = -Infinity;
  const screen = new Screen(environment, ({ columns, rows }) => {
    if (task) return drawTask(task, { columns, rows, style, now: environment.now(), notice, upgrade });
    return notice === undefined ? [] : [cut(notice, columns)];
  });
  /** What the Task does not tell is asked for beside it; without it the picture only has no time left. */
  const askForFacts = async (id: string) => {
    askedAt = environment.now();
    try {
      upgrade = await client.request("GET", `/v1/upgrades/${encodeURIComponent(id)}`, Upgrade, { once: true });
      screen.drawSoon();
    } catch {
      upgrade = undefined;
    }
  };
  return {
    show(changed) {
      ({ task } = changed);
      const isOpen = task.completionTimestamp === undefined && !precheckRunOf(task.id);
      if (isOpen && environment.now() - askedAt > factsMilliseconds) void askForFacts(task.id);
      screen.drawSoon();
    },
    notice(message) {
      notice = message;
      screen.drawSoon();
    },
    close() {
      notice = undefined;
      screen.close();
    },
  };
}

/**
 * What has happened between two states of a Task, a line for each part whose status or stage has changed: for logs and
 * for whoever has no terminal. Without an earlier state, what has begun already.
 */
export function linesOfChange(before: Task | undefined, after: Task, now: number): string[] {
  const lines = partLines(before?.subTasks, after.subTasks, "");
  const isNew = !before || before.status !== after.status || headline(before) !== headline(after);
  const wait = before?.waitingFor?.code !== after.waitingFor?.code && after.waitingFor;
  return [
    ...lines,
    ...(isNew ? [`${summary(after, now)}   ${headline(after)}`] : []),
    ...(wait ? [`! ${legible(wait.message)}`] : []),
  ];
}

function partLines(before: readonly SubTask[] = [], after: readonly SubTask[] = [], path: string): string[] {
  return after.flatMap((part, index) => {
    const earlier = before[index];
    if (earlier === part) return [];
    const name = `${path}${legible(part.name)}`;
    const below = partLines(earlier?.subTasks, part.subTasks, `${name} > `);
    const own = ownLine(earlier, part);
    // What a part begins with comes before what happens in it, its end after.
    if (own === undefined) return below;
    return part.status === "IN_PROGRESS" ? [`${name}: ${own}`, ...below] : [...below, `${name}: ${own}`];
  });
}

function ownLine(before: SubTask | undefined, after: SubTask): string | undefined {
  const isNew = before?.status !== after.status;
  if (after.status === "PENDING") return undefined;
  if (after.status === "IN_PROGRESS") {
    const stage = stageOf(after);
    if (!isNew && (stage === undefined || stage === stageOf(before))) return undefined;
    return stage === undefined ? wordOf(after.status) : legible(stage);
  }
  if (!isNew) return undefined;
  const error = after.errors?.at(-1)?.message;
  return error === undefined ? wordOf(after.status) : `${wordOf(after.status)}: ${legible(error)}`;
}

function stageOf(part: SubTask | undefined): string | undefined {
  return part?.stages?.find(({ status }) => status === "IN_PROGRESS")?.name;
}

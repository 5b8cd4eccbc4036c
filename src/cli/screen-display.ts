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
import type { Task } from "../domain/task";
import { cut } from "./fit";
import type { Display } from "./display";
import { drawTask } from "./progress-tree";
import { styleFor } from "./style";
import type { Surroundings } from "./surroundings";

/** How often a terminal is drawn again at most, and how often for the clock in it, in milliseconds. */
const frameMilliseconds = 100;
const clockMilliseconds = 1000;

/**
 * A picture of the Task on the terminal's second screen, so that a new size leaves nothing of an old picture behind and
 * what stood in the terminal before comes back. The last picture stays on the first screen.
 */
export function screenDisplay(surroundings: Surroundings): Display {
  const { stdout } = surroundings;
  const style = styleFor(stdout, surroundings);
  let task: Task | undefined;
  let notice: string | undefined;
  let soon: NodeJS.Timeout | undefined;
  let release: (() => void) | undefined;

  const picture = () => {
    // The last column stays free: terminals differ in what they do after it.
    const columns = Math.max((stdout.columns ?? 80) - 1, 1);
    const rows = Math.max(stdout.rows ?? 24, 2) - 1;
    if (task) return drawTask(task, { columns, rows, style, now: surroundings.now(), notice });
    return notice === undefined ? [] : [cut(notice, columns)];
  };
  const enter = () => stdout.write(enterAlternativeScreen + cursorHide + clearViewport);
  const leave = () => stdout.write(exitAlternativeScreen + cursorShow);
  const render = () => {
    clearTimeout(soon);
    soon = undefined;
    if (!release) {
      enter();
      release = surroundings.holdTerminal(leave, () => {
        enter();
        render();
      });
    }
    const lines = picture().map((line) => line + eraseEndLine);
    stdout.write(synchronizedOutput(`${cursorTo(0, 0)}${lines.join("\r\n")}\r\n${eraseDown}`));
  };
  const later = () => (soon ??= setTimeout(render, frameMilliseconds));
  const resized = () => {
    if (!release) return;
    stdout.write(clearViewport);
    render();
  };
  const clock = setInterval(later, clockMilliseconds);
  stdout.on?.("resize", resized);
  return {
    show(changed) {
      ({ task } = changed);
      later();
    },
    notice(message) {
      notice = message;
      later();
    },
    close() {
      clearInterval(clock);
      clearTimeout(soon);
      stdout.off?.("resize", resized);
      if (release) {
        release();
        leave();
      }
      notice = undefined;
      for (const line of picture()) stdout.write(`${line}\n`);
    },
  };
}

import { createColors } from "picocolors";
import type { StageStatus, SubTaskStatus, TaskStatus } from "../domain/task";
import type { Output, Surroundings } from "./surroundings";

/** Functions that put a text into a colour, or leave it as it is. */
export type Style = ReturnType<typeof createColors>;

/** Colours for an output: only for a terminal that has them, and not where NO_COLOR asks for none. */
export function styleFor({ isTTY }: Output, { env }: Pick<Surroundings, "env">): Style {
  return createColors(isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb");
}

/** A status in its colour. The word stays, so that the colour is never the only difference. */
export function coloured(style: Style, status: string, text = status): string {
  switch (status.toUpperCase().replace(" ", "_")) {
    case "SUCCESSFUL":
    case "COMPLETED_WITH_SUCCESS":
      return style.green(text);
    case "FAILED":
    case "COMPLETED_WITH_FAILURE":
      return style.red(text);
    case "IN_PROGRESS":
    case "INPROGRESS":
      return style.cyan(text);
    case "PAUSED":
    case "CANCELLED":
    case "COMPLETED_WITH_WARNING":
      return style.yellow(text);
    default:
      return style.dim(text);
  }
}

const symbols: Record<SubTaskStatus, string> = {
  PENDING: "·",
  IN_PROGRESS: "▶",
  SUCCESSFUL: "✔",
  FAILED: "✖",
  NOT_APPLICABLE: "–",
};

/** One character for the status of a part. */
export function symbolOf(status: SubTaskStatus | StageStatus): string {
  return symbols[status];
}

/** A status as a word for people: `In progress`. */
export function wordOf(status: SubTaskStatus | TaskStatus): string {
  const words = status.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * A reason not to start that the operator can remove. Its message is one complete line: the cause and, where there is
 * one, the variable to change. It is shown as it is, without a stack.
 */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** The message of whatever was thrown, on one line. */
export function oneLine(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return message.replace(/\s*\n\s*/g, " ").trim();
}

/** Problems as sentences one after another, whatever each of them ends with. */
export function sentences(problems: readonly string[]): string {
  return problems.map((problem) => `${problem.replace(/[\s.:;,]+$/, "")}.`).join(" ");
}

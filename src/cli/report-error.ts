import type { ErrorBody } from "../domain/error-body";
import { CliError } from "./cli-error";
import { exitCode, type ExitCode } from "./exit-code";
import { styleFor } from "./style";
import type { Surroundings } from "./surroundings";
import { printable } from "./printable";

/** Says what is wrong, all that belongs to it, and one next step, on the standard error; gives the exit code. */
export function reportError(error: unknown, surroundings: Surroundings): ExitCode {
  const { stderr } = surroundings;
  const style = styleFor(stderr, surroundings);
  const known = error instanceof CliError ? error : unforeseen(error);
  const { body } = known;
  const say = (line: string) => stderr.write(`${line}\n`);
  say(`${style.red("Error:")} ${printable(known.message)}`);
  for (const line of nestedLines(body?.nestedErrors ?? [])) say(line);
  if (body) {
    const parts = [body.errorCode, body.referenceToken && `reference ${body.referenceToken}`].filter(Boolean);
    if (parts.length > 0) say(style.dim(`  (${printable(parts.join(", "))})`));
  }
  say(`Next: ${printable(known.nextStep)}`);
  return known.code;
}

function nestedLines(errors: readonly ErrorBody[]): string[] {
  return errors.map(({ message, errorCode }) =>
    printable(`  - ${message}${errorCode === undefined ? "" : ` (${errorCode})`}`),
  );
}

function unforeseen(error: unknown): CliError {
  const message = error instanceof Error ? error.message : String(error);
  return new CliError(exitCode.failed, `upgradectl failed: ${message}`, "Report this with the command that you ran.");
}

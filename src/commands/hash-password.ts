import { text } from "node:stream/consumers";
import { hashPassword } from "../authentication/users";

/** Shorter ones are soon guessed by whoever gets the users file. */
const shortestPassword = 12;
const longestPassword = 1024;

/** Where a password comes from and where its hash goes. */
interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
  readonly errors: NodeJS.WritableStream;
}

/**
 * Reads a password from the standard input, to its end but without the last line break, and writes its hash for the
 * users file. Resolves to the exit code: 1 where the password cannot be taken.
 */
export async function hashPasswordCommand({ input, output, errors }: Terminal): Promise<number> {
  // A terminal would show what is typed, and a shell's history keeps what is written as an argument.
  if (input.isTTY) return refuse(errors, "Send the password to standard input; docs/authentication.md says how.");
  const password = (await text(input)).replace(/\r?\n$/, "");
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(password)) return refuse(errors, "The password must be one line of text.");
  if (password.length < shortestPassword || password.length > longestPassword)
    return refuse(errors, `The password must have ${shortestPassword} to ${longestPassword} characters.`);
  output.write(`${await hashPassword(password)}\n`);
  return 0;
}

function refuse(errors: NodeJS.WritableStream, reason: string): number {
  errors.write(`${reason}\n`);
  return 1;
}

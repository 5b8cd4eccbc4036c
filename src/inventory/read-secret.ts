import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import * as E from "fp-ts/Either";

/** Where a secret is: a file, or a variable of the environment, which wins. */
export interface SecretPlace {
  /** Relative to the inventory's folder. */
  readonly file?: string | undefined;
  readonly variable?: string | undefined;
}

/** Reads secrets of the inventory. */
export interface SecretReader {
  /** The secret; undefined where no place is given. On the left what is wrong with the place, never the secret. */
  (what: string, place: SecretPlace): E.Either<string, string | undefined>;
}

/** A reader for the inventory in a folder. `what` names the secret in its messages. */
export function secretReader(folder: string, environment: Readonly<Record<string, string | undefined>>): SecretReader {
  return (what, { file, variable }) => {
    if (variable !== undefined) {
      const secret = environment[variable];
      return secret ? E.right(secret) : E.left(`${variable}, the ${what}, is not set.`);
    }
    if (file === undefined) return E.right(undefined);
    try {
      return E.right(readFileSync(resolve(folder, file), "utf8").trim());
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).split("\n")[0];
      return E.left(`The file of the ${what} cannot be read: ${reason}`);
    }
  };
}

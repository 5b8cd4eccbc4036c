import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parse } from "yaml";
import { wrongUsage } from "./cli-error";
import type { Surroundings } from "./surroundings";

/**
 * The request in a file, JSON or YAML; `-` is the standard input. What is in it is the service's to judge, which tells
 * all that is wrong at once; only that it is an object is looked at here.
 */
export async function readSpec(file: string, { stdin }: Pick<Surroundings, "stdin">): Promise<Record<string, unknown>> {
  const name = file === "-" ? "The standard input" : file;
  let content: string;
  try {
    content = file === "-" ? await text(stdin) : readFileSync(file, "utf8");
  } catch (error) {
    throw wrongUsage(
      `${name} cannot be read: ${(error as Error).message}.`,
      "Name a file with -f, or - for the standard input.",
    );
  }
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw wrongUsage(`${name} is neither JSON nor YAML: ${(error as Error).message}`, "Correct the syntax there.");
  }
  if (isObject(value)) return value;
  throw wrongUsage(`${name} holds no request.`, "Write an UpgradeSpec into it; examples/ has some to begin with.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

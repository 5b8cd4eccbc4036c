import { createSecretKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DataConverter } from "@temporalio/common";
import * as t from "io-ts";
import { parse } from "yaml";
import { projectRoot } from "../config";
import { sentences, StartupError } from "../startup-error";
import { payloadConversion, type PayloadKey } from "../temporal/payload-encryption";

const Content = t.type({ keys: t.array(t.UnknownRecord) });
const keyBytes = 32;

/**
 * The keys of PAYLOAD_KEYS_FILE in its order, none without a file. Throws a StartupError that names the variable, the
 * file and the key that is wrong, and never repeats a key.
 */
export function loadPayloadKeys(file: string | undefined): readonly PayloadKey[] {
  if (file === undefined) return [];
  const { keys, problems } = readKeys(file);
  if (problems.length === 0) return keys;
  throw new StartupError(
    `PAYLOAD_KEYS_FILE=${file} cannot be used: ${sentences(problems)} docs/encryption.md says how to make one.`,
  );
}

/** How the API and the worker read and write payloads. */
export function payloadConversionOf(keys: readonly PayloadKey[]): DataConverter {
  return payloadConversion(keys, join(projectRoot, "dist/workflows/failure-converter.js"));
}

function readKeys(file: string): { keys: PayloadKey[]; problems: string[] } {
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8"));
  } catch (error) {
    // YAML's parser shows the lines around a mistake, which can hold a key.
    return { keys: [], problems: [(error instanceof Error && error.message.split("\n")[0]) || "unreadable"] };
  }
  if (!Content.is(content) || content.keys.length === 0) return { keys: [], problems: ["It needs a list named keys"] };
  const keys: PayloadKey[] = [];
  const problems: string[] = [];
  for (const [place, { id, key }] of content.keys.entries()) {
    const bytes = typeof key === "string" ? Buffer.from(key, "base64") : undefined;
    if (typeof id !== "string" || !/^[\w.-]{1,64}$/.test(id))
      problems.push(`keys[${place}].id must be a text of 1 to 64 letters, digits, dots, hyphens or underscores`);
    else if (keys.some((other) => other.id === id)) problems.push(`keys[${place}]: the id ${id} occurs twice`);
    else if (bytes?.length !== keyBytes) problems.push(`The key of ${id} must be ${keyBytes} bytes in base64`);
    else keys.push({ id, key: createSecretKey(bytes) });
  }
  return { keys, problems };
}

import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Edit } from "./means";

const root = resolve(__dirname, "../..");

/** What the build and the service need of a checkout, beside its packages. */
const files = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"];
const folders = ["scripts", "config", "src", "workflows", "activities"];

/** Makes and builds a checkout in `folder` that is this one with some edits. */
export async function makeCheckout(edits: readonly Edit[], folder: string): Promise<void> {
  for (const part of [...files, ...folders]) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const edit of edits) {
    const file = join(folder, edit.file);
    writeFileSync(file, edited(readFileSync(file, "utf8"), edit));
  }
  await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: folder });
}

/** A source with one edit. Throws where the text is not there, or more than once. */
export function edited(source: string, { file, text, instead }: Edit): string {
  const [before = "", after, ...more] = source.split(text);
  if (after === undefined || more.length > 0)
    throw new Error(`${file} has ${text} ${more.length === 0 ? "nowhere" : "more than once"} (bench/means/means.ts)`);
  return before + instead + after;
}

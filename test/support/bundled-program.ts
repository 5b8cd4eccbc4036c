import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

/** Below the project, where programs look for its folder and Node for packages. */
const place = resolve(__dirname, "../../.data");

/**
 * A program of today's sources as one file, for tests that start it many times: tsx would look at every source again in
 * every process, which takes two thirds of the program's own time. Registers the hooks that make and remove it.
 */
export function useBundledProgram(source: string): () => string {
  let folder: string | undefined;
  before(async () => {
    mkdirSync(place, { recursive: true });
    folder = mkdtempSync(join(place, "program-"));
    await build({
      entryPoints: [source],
      bundle: true,
      packages: "external",
      platform: "node",
      target: "node20",
      outfile: join(folder, "program.cjs"),
      logLevel: "warning",
    });
  });
  after(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  });
  return () => {
    if (folder === undefined) throw new Error("The program is there from the before hooks on");
    return join(folder, "program.cjs");
  };
}

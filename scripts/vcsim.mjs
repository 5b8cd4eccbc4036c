import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, root, run } from "./run.mjs";

const source = join(root, "test", "third-party", "vcsim");

/**
 * The path of vcsim, the govmomi project's simulator of a component manager, against which the third-party suite runs
 * our driver. It is built by Go from test/third-party/vcsim and kept in the cache, one build for each state of that.
 */
export async function vcsim(cacheDir, { say, signal }) {
  const digest = createHash("sha256");
  for (const name of ["main.go", "go.mod", "go.sum"]) digest.update(readFileSync(join(source, name))).update("\0");
  const place = join(cacheDir, `vcsim-${digest.digest("hex").slice(0, 12)}`);
  const program = join(place, "vcsim");
  if (existsSync(program)) return program;
  say("Building vcsim with Go; this happens once and takes about half a minute");
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-vcsim-"));
  try {
    await run("go build", "go", ["build", "-C", source, "-o", join(fresh, "vcsim"), "."], { signal });
    // Moved in one step: an interrupted build leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(program))
      throw new PreparationError(
        `The third-party suite needs vcsim, which Go 1.25 or later builds from test/third-party/vcsim: install Go, put \`go\` on PATH and let it reach a module proxy.\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return program;
}

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PreparationError, run } from "./run.mjs";

/**
 * The folder `place` of the cache with a tool, which `make` puts into a fresh folder where there is none yet; `keep` is
 * the part of that folder that is wanted, by default all. `making` says to people what happens once, `needed` what is
 * missing where it cannot be made: then it throws a PreparationError, unless somebody else has made it in the meantime.
 */
export async function cachedTool(place, { making, needed, say, keep = "." }, make) {
  if (existsSync(place)) return place;
  say(making);
  const cacheDir = dirname(place);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-"));
  try {
    await make(fresh);
    // Moved in one step: what is interrupted leaves nothing half done.
    renameSync(join(fresh, keep), place);
  } catch (error) {
    if (!existsSync(place)) throw new PreparationError(`${needed}\n${error.message}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}

/** `go install` of a module's program, which is named with its version, into a folder. */
export function goInstall(module, folder, signal) {
  return run("go install", "go", ["install", module], {
    signal,
    env: { ...process.env, GOBIN: folder, GOFLAGS: "" },
  });
}

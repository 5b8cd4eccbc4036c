import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, run } from "./run.mjs";

/**
 * A folder in the cache with Python packages, which pip installs there once. `asked` is what pip is asked for, `what`
 * names it to people.
 */
export async function pythonPackages(place, { what, asked }, { say, signal }) {
  if (existsSync(place)) return place;
  say(`Installing ${what} (pip); this happens once and takes about a minute`);
  const cacheDir = join(place, "..");
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-python-packages-"));
  try {
    await run("pip", "python3", ["-m", "pip", "install", "--quiet", "--target", fresh, ...asked], { signal });
    // Moved in one step: an interrupted installation leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(place))
      throw new PreparationError(
        `The tests need ${what}: python3 -m pip install --target ${place} ${asked.join(" ")}\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}

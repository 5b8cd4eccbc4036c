import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, run } from "./run.mjs";

const version = "2.12.0";

/**
 * The path of Toxiproxy's server, which the network suite puts between the parts of the service. Go builds it; it is
 * kept in the cache.
 */
export async function toxiproxy(cacheDir, { say, signal }) {
  const place = join(cacheDir, `toxiproxy-${version}`);
  const program = join(place, "server");
  if (existsSync(program)) return program;
  say(`Building Toxiproxy ${version} with Go; this happens once and takes about half a minute`);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-toxiproxy-"));
  try {
    await run("go install", "go", ["install", `github.com/Shopify/toxiproxy/v2/cmd/server@v${version}`], {
      signal,
      env: { ...process.env, GOBIN: fresh, GOFLAGS: "" },
    });
    // Moved in one step: an interrupted build leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(program))
      throw new PreparationError(
        `The network suite needs Toxiproxy ${version}, which Go builds: put \`go\` on PATH and let it reach a module proxy.\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return program;
}

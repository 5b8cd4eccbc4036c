import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PreparationError, root, run } from "./run.mjs";

/** The programs by the names that the containers give them. */
const programs = { "cmd/server": "temporal-server", "cmd/tools/sql": "temporal-sql-tool" };

/** The Temporal server of docker-compose.yml, which is the only place that names its version. */
export function temporalServerVersion() {
  const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");
  const version = /image: temporalio\/server:(\d+\.\d+\.\d+)$/m.exec(compose)?.[1];
  if (!version) throw new PreparationError("docker-compose.yml names no version of temporalio/server");
  return version;
}

/**
 * The folder of the Temporal server's programs, which the production suite runs on PostgreSQL. Go builds them; they are
 * kept in the cache.
 */
export async function temporalServer(cacheDir, { say, signal }) {
  const version = temporalServerVersion();
  const place = join(cacheDir, `temporal-server-${version}`);
  if (existsSync(place)) return place;
  say(`Building the Temporal server ${version} with Go; this happens once and takes about ten minutes`);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-temporal-server-"));
  try {
    for (const [folder, program] of Object.entries(programs)) {
      const module = `go.temporal.io/server/${folder}@v${version}`;
      await run("go install", "go", ["install", module], {
        signal,
        env: { ...process.env, GOBIN: fresh, GOFLAGS: "" },
      });
      renameSync(join(fresh, folder.split("/").at(-1)), join(fresh, program));
    }
    // Moved in one step: an interrupted build leaves nothing half done.
    renameSync(fresh, place);
  } catch (error) {
    if (!existsSync(place))
      throw new PreparationError(
        `The production suite needs the Temporal server ${version}, which Go builds: put \`go\` on PATH and let it reach a module proxy.\n${error.message}`,
      );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}

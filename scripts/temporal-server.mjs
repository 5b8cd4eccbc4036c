import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { cachedTool, goInstall } from "./cached-tool.mjs";
import { PreparationError, root } from "./run.mjs";

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
export function temporalServer(cacheDir, { say, signal }) {
  const version = temporalServerVersion();
  const told = {
    making: `Building the Temporal server ${version} with Go; this happens once and takes about ten minutes`,
    needed: `The production suite needs the Temporal server ${version}, which Go builds: put \`go\` on PATH and let it reach a module proxy.`,
    say,
  };
  return cachedTool(join(cacheDir, `temporal-server-${version}`), told, async (fresh) => {
    for (const [folder, program] of Object.entries(programs)) {
      await goInstall(`go.temporal.io/server/${folder}@v${version}`, fresh, signal);
      renameSync(join(fresh, folder.split("/").at(-1)), join(fresh, program));
    }
  });
}

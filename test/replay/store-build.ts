/**
 * Stores the Workflows as they are now, for the tests of deployments (docs/deploys.md), before a change of what they do:
 *
 *     node --import tsx test/replay/store-build.ts NAME [BUNDLE]
 *
 * NAME says before what, such as `before-operations`. BUNDLE is the `workflow-bundle.js` of another build, by default
 * that of this one, which is made first.
 */
import { readFileSync } from "node:fs";
import { storeBuild } from "../support/older-builds";
import { productionBundlePath } from "./replay";

async function main(): Promise<void> {
  const [name, bundle] = process.argv.slice(2);
  if (!name || !/^[a-z0-9][a-z0-9.-]*$/.test(name)) throw new Error("Which name? Lower case letters, digits, . and -");
  const size = storeBuild(name, readFileSync(bundle ?? (await productionBundlePath()), "utf8"));
  process.stdout.write(`${name} is stored: ${Math.round(size / 1000)} kB\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

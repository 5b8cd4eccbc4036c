#!/usr/bin/env node
// `npx upgradectl`: makes a fresh checkout ready, then runs the command line in this same process. What is built stays
// as it is: the shell asks this program at each press of Tab.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { prepare } from "./prepare.mjs";
import { root, runScript } from "./run.mjs";

const program = join(root, "dist", "src", "cli", "upgradectl.js");
if (!existsSync(program)) {
  await runScript(async (signal) => {
    await prepare({ signal });
    return 0;
  });
}
if (existsSync(program)) createRequire(import.meta.url)(program);

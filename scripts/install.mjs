// Runs before `npm ci`, so it can use no package.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./run.mjs";

/** Installs the packages of package-lock.json where node_modules does not hold exactly them. */
export async function install({ say, signal }) {
  if (isInstalled()) return;
  say("Installing packages (npm ci)");
  const npm = process.env.npm_execpath;
  const [program, ...first] = npm ? [process.execPath, npm] : ["npm"];
  // The build needs the development packages, whatever NODE_ENV says.
  await run("npm ci", program, [...first, "ci", "--include=dev", "--no-audit", "--no-fund"], {
    signal,
    shortened: npmReason,
  });
}

/** Why npm failed: the first lines of its errors, without the help on its options that follows them. */
export function npmReason(output) {
  const errors = output.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("npm warn"));
  const help = errors.findIndex((line) => /Clean install a project|^npm error Usage:/.test(line));
  return errors.slice(0, Math.min(help < 0 ? Infinity : help, 20)).join("\n");
}

/** npm writes node_modules/.package-lock.json last, so after an interrupted install it is missing or an older one. */
function isInstalled() {
  const wanted = packages(join(root, "package-lock.json"));
  const present = packages(join(root, "node_modules", ".package-lock.json"));
  if (!wanted) throw new Error("package-lock.json cannot be read");
  if (!present) return false;
  const missing = Object.entries(wanted).some(
    ([path, { version, optional }]) =>
      path !== "" && present[path]?.version !== version && !(optional && !present[path]),
  );
  return !missing && Object.keys(present).every((path) => path in wanted);
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

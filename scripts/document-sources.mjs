import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { root } from "./run.mjs";

/** Every file that the rendered documents are made of, by its path in the checkout. It runs before `npm ci`. */
export function documentSources() {
  const below = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ...below.sort()];
}

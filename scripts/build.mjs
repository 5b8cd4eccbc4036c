import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { documentSources } from "./document-sources.mjs";
import { root, run } from "./run.mjs";

const dist = join(root, "dist");
const require = createRequire(import.meta.url);

/** Builds dist/ where its sources have changed: the service, the Workflow bundles that its Workers load, the console and the documents. */
export async function build({ say, signal }) {
  const digest = sourceDigest();
  if (readText(join(dist, ".digest")) === digest) return;
  say("Building");
  const fresh = join(root, `dist.${process.pid}`);
  try {
    // Types are checked by `npm run check`; without them the first start comes sooner.
    const compile = [
      require.resolve("typescript/bin/tsc"),
      "-p",
      "tsconfig.build.json",
      "--noCheck",
      "--outDir",
      fresh,
    ];
    const bundle = ["scripts/bundle-workflows.mjs", fresh];
    await run("The build", process.execPath, compile, { signal });
    await run("The Workflow bundles", process.execPath, bundle, { signal });
    // Not before packages are installed, which may be done in the same run.
    const { bundleConsole } = await import("./bundle-console.mjs");
    await bundleConsole(join(fresh, "console"));
    const { renderDocs } = await import("./render-docs.mjs");
    renderDocs(join(fresh, "docs"));
    writeFileSync(join(fresh, ".digest"), digest);
    // In one step, so that an interrupted build leaves the one before.
    rmSync(dist, { recursive: true, force: true });
    renameSync(fresh, dist);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A digest of everything that the build depends on. */
function sourceDigest() {
  const hash = createHash("sha256").update(process.version);
  const single = [
    "tsconfig.json",
    "tsconfig.build.json",
    "package-lock.json",
    "scripts/build.mjs",
    "scripts/bundle-console.mjs",
    "scripts/bundle-workflows.mjs",
    "scripts/document-sources.mjs",
    "scripts/render-docs.css",
    "scripts/render-docs.mjs",
    ...documentSources(),
  ];
  for (const file of [
    ...single.map((name) => join(root, name)),
    ...["src", "workflows", "activities"].flatMap(filesBelow),
  ])
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  return hash.digest("hex");
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

// The image is built by calling this file.
if (process.argv[1] === fileURLToPath(import.meta.url)) await build({ say: console.log });

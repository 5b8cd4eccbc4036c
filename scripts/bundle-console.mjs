import { cpSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "./run.mjs";

const source = join(root, "src", "console");

/** Bundles the operators' page into a folder: console.js, style.css, index.html and the icon. */
export async function bundleConsole(folder) {
  await build({
    absWorkingDir: root,
    entryPoints: { console: join(source, "main.tsx"), style: join(source, "style.css") },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"]) cpSync(join(source, file), join(folder, file));
}

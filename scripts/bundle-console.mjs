import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { root } from "./run.mjs";

const source = join(root, "src", "console");

/**
 * Bundles the operators' page into a folder: index.html, and what that loads under names that hold a digest of the
 * content, so that browsers may keep it for ever.
 */
export async function bundleConsole(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { console: join(source, "main.tsx"), style: join(source, "style.css") },
    entryNames: "[name]-[hash]",
    outdir: folder,
    metafile: true,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
  });
  const built = Object.keys(metafile.outputs).map((path) => basename(path));
  const icon = readFileSync(join(source, "icon.svg"));
  const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
  writeFileSync(join(folder, iconName), icon);
  const page = [...built, iconName].reduce(
    (text, name) => {
      const [stem, extension] = [name.slice(0, name.lastIndexOf("-")), name.slice(name.lastIndexOf("."))];
      return text.replace(`/console/${stem}${extension}`, `/console/${name}`);
    },
    readFileSync(join(source, "index.html"), "utf8"),
  );
  writeFileSync(join(folder, "index.html"), page);
}

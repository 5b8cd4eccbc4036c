import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { transformSync } from "esbuild";
import type { WorkflowBundle } from "@temporalio/worker";

const folder = resolve(__dirname, "../deploys/older-builds");
const suffix = ".js.br";

/** The names of the builds whose Workflow bundles are stored (docs/decisions/0022), oldest names as they sort. */
export function olderBuilds(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .sort();
}

/** The Workflows as workers of that build ran them. Throws where no such build is stored. */
export function olderBuild(name: string): WorkflowBundle {
  const code = brotliDecompressSync(readFileSync(join(folder, `${name}${suffix}`))).toString("utf8");
  return { code: `${code}\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,${noSourceMap}` };
}

/** A worker refuses a bundle without one. */
const noSourceMap = Buffer.from(
  JSON.stringify({ version: 3, file: "workflow-bundle.js", sources: [], names: [], mappings: "" }),
).toString("base64");

/**
 * Stores a bundle that the build has made, without its source map and comments: some 85 kB. Gives its size in bytes.
 * Its lines stay short, because an error prints the line that it comes from. Throws where the name is taken: a stored
 * build is a fact, as a stored history is.
 */
export function storeBuild(name: string, bundle: string): number {
  const [code = ""] = bundle.split("//# sourceMappingURL");
  // Modules are named by their paths; where the packages of that build were is nobody's business.
  const placeless = code.replace(/(?:\.\.\/)+[\w./-]*?node_modules\//g, "./node_modules/");
  const small = transformSync(placeless, { minifySyntax: true, legalComments: "inline" }).code;
  const packed = brotliCompressSync(small, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: small.length } });
  writeFileSync(join(folder, `${name}${suffix}`), packed, { flag: "wx" });
  return packed.length;
}

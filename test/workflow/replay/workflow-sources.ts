import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { build, transform } from "esbuild";

const root = resolve(__dirname, "../../..");

/** Where a worker's Workflow bundle begins (scripts/bundle-workflows.mjs). */
const entryPoints = [
  "index",
  "payload-converter",
  "failure-converter",
  "task-id-interceptors",
  "trace-interceptors",
  "end-guard",
].map((name) => resolve(root, "workflows", `${name}.ts`));

/** What a Workflow bundle is made of. */
export interface WorkflowSources {
  /** A digest of each of our files, by its path: of what it does, without comments, types and layout. */
  readonly files: Readonly<Record<string, string>>;
  /** The version of each package that they import. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Reads `workflows/` and whatever they import at run time. */
export async function workflowSources(): Promise<WorkflowSources> {
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    bundle: true,
    packages: "external",
    write: false,
    metafile: true,
    outdir: "unused",
    format: "cjs",
    logLevel: "silent",
  });
  const paths = Object.keys(metafile.inputs).sort();
  const digests = paths.map(
    async (path) => [path, await codeDigest(readFileSync(resolve(root, path), "utf8"))] as const,
  );
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => packageOf(path)),
  );
  return {
    files: Object.fromEntries(await Promise.all(digests)),
    packages: Object.fromEntries([...new Set(imported)].sort().map((name) => [name, versionOf(name)])),
  };
}

/** Of what TypeScript code does: the same for other comments, types and layout. */
export async function codeDigest(code: string): Promise<string> {
  const { code: bare } = await transform(code, {
    loader: "ts",
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    format: "esm",
    target: "es2022",
  });
  return createHash("sha256").update(bare).digest("hex").slice(0, 16);
}

/** What differs, one line each, such as `changed: workflows/upgrade/upgrade-products.ts`; nothing where all is the same. */
export function sourceChanges(accepted: WorkflowSources, now: WorkflowSources): string[] {
  return [...differences(accepted.files, now.files), ...differences(accepted.packages, now.packages)];
}

function differences(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().flatMap((name) => {
    if (before[name] === now[name]) return [];
    if (before[name] === undefined) return [`added: ${name}`];
    return [now[name] === undefined ? `removed: ${name}` : `changed: ${name}`];
  });
}

function packageOf(path: string): string {
  return path
    .split("/")
    .slice(0, path.startsWith("@") ? 2 : 1)
    .join("/");
}

function versionOf(name: string): string {
  const lock = JSON.parse(readFileSync(resolve(root, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { version?: string }>>;
  };
  const version = lock.packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`package-lock.json knows no ${name}`);
  return version;
}

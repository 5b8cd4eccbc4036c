// Bundles the Workflows once, so that a Worker starts without the seconds that webpack takes: workflow-bundle.js, and
// for workers that encrypt payloads `-encrypted`, in which the messages of failures are payloads too.
// Usage: node scripts/bundle-workflows.mjs FOLDER
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { build } from "esbuild";
import { root } from "./run.mjs";

const workflows = join(root, "workflows");

const preloadModules = await domainModules();

await Promise.all([false, true].map((encrypted) => bundle({ encrypted })));

async function bundle({ encrypted }) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflows, "index.ts"),
    payloadConverterPath: join(workflows, "payload-converter.ts"),
    ...(encrypted && { failureConverterPath: join(workflows, "failure-converter.ts") }),
    workflowInterceptorModules: [
      join(workflows, "task-id-interceptors.ts"),
      join(workflows, "trace-interceptors.ts"),
      join(workflows, "end-guard.ts"),
    ],
    preloadModules,
    logger: new DefaultLogger("WARN"),
  });
  const name = `workflow-bundle${encrypted ? "-encrypted" : ""}.js`;
  writeFileSync(join(process.argv[2], name), code);
}

/**
 * The modules of the domain that Workflows use. A worker loads them once; what it does not, it loads for each Workflow
 * that it begins to work on, which took 7 ms and 330 kB instead of 1.4 ms and 90 kB. They keep no state, and nor do the
 * packages that they use; modules of `workflows/` may (request-cause.ts).
 */
async function domainModules() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(workflows, "index.ts")],
    bundle: true,
    packages: "external",
    write: false,
    metafile: true,
    outdir: "unused",
    logLevel: "warning",
  });
  const ours = Object.keys(metafile.inputs).filter((path) => path.startsWith("src/domain/"));
  return ours.map((path) => join(root, path));
}

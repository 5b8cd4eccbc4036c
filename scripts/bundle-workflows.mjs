// Bundles the Workflows once, so that a Worker starts without the seconds that webpack takes: workflow-bundle.js, and
// beside it, for workers that trace, `-traced` with the interceptors of OpenTelemetry, which cost time whether or not
// anybody collects their spans; for workers that encrypt payloads, `-encrypted`, in which the messages of failures are
// payloads too; and both in one.
// Usage: node scripts/bundle-workflows.mjs FOLDER
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { root } from "./run.mjs";

const workflows = join(root, "workflows");
const tracing = createRequire(import.meta.url).resolve(
  "@temporalio/interceptors-opentelemetry/lib/workflow-interceptors",
);

await Promise.all([false, true].flatMap((encrypted) => [false, true].map((traced) => bundle({ encrypted, traced }))));

async function bundle({ encrypted, traced }) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(workflows, "index.ts"),
    payloadConverterPath: join(workflows, "payload-converter.ts"),
    ...(encrypted && { failureConverterPath: join(workflows, "failure-converter.ts") }),
    workflowInterceptorModules: [join(workflows, "task-id-interceptors.ts"), ...(traced ? [tracing] : [])],
    logger: new DefaultLogger("WARN"),
  });
  const name = `workflow-bundle${encrypted ? "-encrypted" : ""}${traced ? "-traced" : ""}.js`;
  writeFileSync(join(process.argv[2], name), code);
}

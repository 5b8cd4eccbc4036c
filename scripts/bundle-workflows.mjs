// Bundles the Workflows once, so that a Worker starts without the seconds that webpack takes.
// Usage: node scripts/bundle-workflows.mjs FILE [--traced]
// --traced: with the interceptors of OpenTelemetry, which cost time whether or not anybody collects their spans.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { root } from "./run.mjs";

const tracing = createRequire(import.meta.url).resolve(
  "@temporalio/interceptors-opentelemetry/lib/workflow-interceptors",
);
const [, , file, traced] = process.argv;

const { code } = await bundleWorkflowCode({
  workflowsPath: join(root, "workflows", "index.ts"),
  payloadConverterPath: join(root, "workflows", "payload-converter.ts"),
  workflowInterceptorModules: [
    join(root, "workflows", "task-id-interceptors.ts"),
    ...(traced === "--traced" ? [tracing] : []),
  ],
  logger: new DefaultLogger("WARN"),
});
writeFileSync(file, code);

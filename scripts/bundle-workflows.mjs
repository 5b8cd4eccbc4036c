// Bundles the Workflows once, so that a Worker starts without the seconds that webpack takes.
// Usage: node scripts/bundle-workflows.mjs FILE
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { root } from "./run.mjs";

const { code } = await bundleWorkflowCode({
  workflowsPath: join(root, "workflows", "index.ts"),
  payloadConverterPath: join(root, "workflows", "payload-converter.ts"),
  logger: new DefaultLogger("WARN"),
});
writeFileSync(process.argv[2], code);

// Bundles the Workflows once, so that a Worker starts without the seconds that webpack takes: workflow-bundle.js, and
// for workers that encrypt payloads workflow-bundle-encrypted.js, in which the messages of failures are payloads too.
// Usage: node scripts/bundle-workflows.mjs FOLDER
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";
import { root } from "./run.mjs";

const workflows = join(root, "workflows");
const options = {
  workflowsPath: join(workflows, "index.ts"),
  payloadConverterPath: join(workflows, "payload-converter.ts"),
  logger: new DefaultLogger("WARN"),
};
const bundles = {
  "workflow-bundle.js": options,
  "workflow-bundle-encrypted.js": { ...options, failureConverterPath: join(workflows, "failure-converter.ts") },
};

await Promise.all(
  Object.entries(bundles).map(async ([name, its]) => {
    const { code } = await bundleWorkflowCode(its);
    writeFileSync(join(process.argv[2], name), code);
  }),
);

// Downloads the Temporal CLI by way of the SDK's own mechanism, which knows where releases are.
// Usage: node scripts/download-temporal-cli.mjs FOLDER VERSION
import { TestWorkflowEnvironment } from "@temporalio/testing";

const [downloadDir, version] = process.argv.slice(2);
try {
  // The SDK offers the download only as a part of starting a server.
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "cached-download", downloadDir, version } },
  });
  await environment.teardown();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

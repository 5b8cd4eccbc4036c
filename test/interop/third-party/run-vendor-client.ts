import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a script of test/interop/third-party/vendor-clients with the vendor's Python clients; answers the JSON that it prints. */
export async function runVendorClient(script: string, ...args: string[]): Promise<unknown> {
  const folder = process.env["VENDOR_CLIENTS"];
  if (!folder)
    throw new Error(
      "VENDOR_CLIENTS is not set: run `npm test -- interop/third-party`, which installs the clients and sets it.",
    );
  const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await run("python3", [join(__dirname, "vendor-clients", script), ...args], {
    env,
    timeout: 100_000,
  });
  return JSON.parse(stdout);
}

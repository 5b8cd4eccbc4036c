import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pythonPackages } from "./python-packages.mjs";
import { root } from "./run.mjs";

/** Names every version, because the generators that it builds on decide what a seed gives. */
const requirements = join(root, "test/interop/third-party/schemathesis/requirements.txt");

/** The folder of Schemathesis, with which the third-party suite tests the service against its own /openapi.json. */
export function schemathesis(cacheDir, told) {
  const text = readFileSync(requirements, "utf8");
  const [what] = /^schemathesis==.*$/m.exec(text) ?? ["schemathesis"];
  const state = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return pythonPackages(join(cacheDir, `schemathesis-${state}`), { what, asked: ["-r", requirements] }, told);
}

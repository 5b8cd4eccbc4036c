import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cachedTool, goInstall } from "./cached-tool.mjs";
import { root, run } from "./run.mjs";

/** Clients of the generators; each names every version that it needs. */
const clients = join(root, "test/interop/third-party/client-generators");
const npmFiles = ["package.json", "package-lock.json", ".npmrc"].map((name) => join("typescript", name));
const requirements = join("python", "requirements.txt");
const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

/**
 * A folder in the cache with the generators by which the third-party suite makes clients of the service's /openapi.json:
 * `typescript` has `node_modules`; `python` has packages; `go` has the program `oapi-codegen`, and in `modules` what its
 * client needs.
 */
export function clientGenerators(cacheDir, { say, signal }) {
  const told = {
    making: "Installing client generators (npm, pip and Go); this happens once and takes about two minutes",
    needed: `The third-party suite needs openapi-typescript, openapi-python-client and ${oapiCodegen}: put \`npm\`, \`python3\` and \`go\` on PATH and let them reach a registry, a package index and a module proxy.`,
    say,
  };
  const digest = createHash("sha256").update(oapiCodegen);
  for (const name of [...npmFiles, requirements, "go/go.mod", "go/go.sum"])
    digest.update(readFileSync(join(clients, name))).update("\0");
  const place = join(cacheDir, `client-generators-${digest.digest("hex").slice(0, 12)}`);
  return cachedTool(place, told, async (fresh) => {
    for (const language of ["typescript", "python", "go"]) mkdirSync(join(fresh, language));
    for (const name of npmFiles) copyFileSync(join(clients, name), join(fresh, name));
    const args = ["ci", "--prefix", join(fresh, "typescript"), "--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm ci", "npm", args, { signal });
    const packages = ["--target", join(fresh, "python"), "-r", join(clients, requirements)];
    await run("pip", "python3", ["-m", "pip", "install", "--quiet", ...packages], { signal });
    await goInstall(oapiCodegen, join(fresh, "go"), signal);
    // By itself Go makes what it downloads read-only, and then nobody can remove it.
    const env = { ...process.env, GOFLAGS: "-modcacherw", GOMODCACHE: join(fresh, "go", "modules") };
    await run("go mod download", "go", ["-C", join(clients, "go"), "mod", "download"], { signal, env });
  });
}

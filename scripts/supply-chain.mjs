// `npm run supply-chain [FILE]`: what the service is made of. Writes a CycloneDX SBOM (by default to .data/sbom.cdx.json)
// and a list of licences beside it, and checks what can be known of them offline. For known weaknesses it asks the
// registry; one that cannot be asked is told in a line and not counted, unless SUPPLY_CHAIN_AUDIT=required.
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { root, runScript } from "./run.mjs";
import {
  checkEngines,
  checkInstalls,
  checkInstallScripts,
  checkLicences,
  checkLock,
  checkSbom,
  checkWeaknesses,
  licencesOf,
  lowestOf,
  shippedSbom,
} from "./supply-chain-checks.mjs";
import { totalsLine } from "./totals.mjs";

const read = (name) => readFileSync(join(root, name), "utf8");

/** The output of npm as JSON, also where it ends with an error, as `npm audit` does when it has found something. */
async function npm(...args) {
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
  const { stdout, stderr } = await promisify(execFile)("npm", args, options).catch((error) => error);
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`npm ${args[0]} gave no JSON:\n${stderr}`);
  }
}

/** Whatever might install something: the image, the gate, the scripts. */
function installers() {
  const scripts = readdirSync(join(root, "scripts")).map((name) => join("scripts", name));
  return ["Dockerfile", "docker-compose.yml", "package.json", join(".ci", "run"), ...scripts].map((name) => ({
    name,
    text: read(name),
  }));
}

function writeLists(file, sbom) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(sbom, undefined, 2));
  const licences = sbom.components.map((part) => `${part.name} ${part.version}: ${licencesOf(part).join(", ")}`);
  writeFileSync(join(dirname(file), "licences.txt"), `${licences.sort().join("\n")}\n`);
  console.log(`      ${relative(process.cwd(), file)}, and licences.txt beside it`);
}

await runScript(async () => {
  const [lock, manifest] = [JSON.parse(read("package-lock.json")), JSON.parse(read("package.json"))];
  const lowestNode = lowestOf(manifest.engines.node);
  const node = ":attr(engines, [node])";
  // npm writes CycloneDX itself; @cyclonedx/cyclonedx-npm would add 140 packages, one of which compiles C++ to install.
  const [everything, refusing, audit] = await Promise.all([
    npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only"),
    npm("query", "--package-lock-only", `${node}:not(:semver(${lowestNode}, ${node}))`),
    npm("audit", "--omit", "dev", "--json"),
  ]);
  const sbom = shippedSbom(everything, lock);
  const results = [
    checkSbom(sbom, lock),
    checkLicences(sbom),
    checkLock(lock, manifest),
    checkInstallScripts(lock),
    checkInstalls(installers()),
    checkEngines(
      refusing.map(({ location }) => location),
      lock,
      lowestNode,
    ),
    checkWeaknesses(audit, process.env.SUPPLY_CHAIN_AUDIT === "required"),
  ];
  for (const { outcome, line, details } of results) {
    console.log(`${{ passed: "ok  ", failed: "FAIL", told: "info" }[outcome]}  ${line}`);
    for (const detail of details) console.log(`      ${detail}`);
  }
  writeLists(resolve(root, process.argv[2] ?? join(".data", "sbom.cdx.json")), sbom);
  const count = (wanted) => results.filter(({ outcome }) => outcome === wanted).length;
  console.log(`\n${totalsLine({ passed: count("passed"), failed: count("failed"), skipped: 0 })}`);
  return count("failed") > 0 ? 1 : 0;
});

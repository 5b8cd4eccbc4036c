// `npm run supply-chain [FILE]`: what the service is made of. Writes a CycloneDX SBOM (by default to .data/sbom.cdx.json)
// and a list of licences beside it, fails for a licence that nobody has allowed, and for known weaknesses of level high
// or above. A registry that does not answer the question about weaknesses is a skip, and says so; it is never a pass.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { root } from "./run.mjs";
import { totalsLine } from "./totals.mjs";

/** Licences that ask for no more than to be named; CC-BY and Python's are of data and of a parser of arguments. */
const allowed = new Set([
  ...["MIT", "ISC", "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "Unlicense", "CC0-1.0"],
  ...["CC-BY-4.0", "PSF-2.0", "Python-2.0"],
]);

/** The output of npm, also where it ends with an error, as `npm audit` does when it has found something. */
async function npm(...args) {
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 };
  return promisify(execFile)("npm", args, options).then(
    ({ stdout }) => stdout,
    (error) => error.stdout ?? "",
  );
}

/** Whether all parts of an SPDX expression are allowed, or one of those that it leaves to choose from. */
function isAllowed(expression) {
  const text = expression.replace(/^\((.*)\)$/, "$1");
  if (text.includes(" OR ")) return text.split(" OR ").some(isAllowed);
  return text.split(" AND ").every((licence) => allowed.has(licence));
}

function licencesOf({ licenses = [] }) {
  return licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? "");
}

const totals = { passed: 0, failed: 0, skipped: 0 };
const tell = (outcome, line) => {
  totals[outcome] += 1;
  console.log(`${{ passed: "ok  ", failed: "FAIL", skipped: "skip" }[outcome]}  ${line}`);
};

const file = resolve(root, process.argv[2] ?? join(".data", "sbom.cdx.json"));
const sbom = JSON.parse(await npm("sbom", "--sbom-format", "cyclonedx", "--omit", "dev"));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, JSON.stringify(sbom, undefined, 2));
const rows = sbom.components.map((part) => [`${part.name} ${part.version}`, licencesOf(part)]);
const list = rows.map(([name, licences]) => `${name}: ${licences.join(", ")}`).sort();
writeFileSync(join(dirname(file), "licences.txt"), `${list.join("\n")}\n`);
tell("passed", `SBOM of ${rows.length} packages: ${file}`);

const refused = rows.filter(([, licences]) => licences.length === 0 || !licences.every(isAllowed));
tell(
  refused.length === 0 ? "passed" : "failed",
  `licences${refused.map(([name, licences]) => `\n      ${name}: ${licences.join(", ") || "none is named"}`).join("")}`,
);

const { metadata, vulnerabilities = {}, message } = JSON.parse((await npm("audit", "--omit", "dev", "--json")) || "{}");
if (metadata?.vulnerabilities === undefined) {
  tell("skipped", `known weaknesses: the registry did not answer (${message ?? "no answer"}); NOBODY HAS LOOKED`);
} else {
  const grave = Object.values(vulnerabilities).filter(({ severity }) => ["high", "critical"].includes(severity));
  const found = grave.map(({ name, severity }) => `\n      ${name}: ${severity}`).join("");
  tell(grave.length === 0 ? "passed" : "failed", `known weaknesses of level high or above${found}`);
}

console.log(totalsLine(totals));
process.exitCode = totals.failed > 0 ? 1 : 0;

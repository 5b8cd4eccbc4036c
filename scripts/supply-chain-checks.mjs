// What `npm run supply-chain` decides, on what it has read. Each check gives `{ outcome, line, details }` with the
// outcome `passed`, `failed`, or `told` for what could not be looked at: that is an information and no test.
import parseExpression from "spdx-expression-parse";

/** Licences that ask for no more than to be named; CC-BY and Python's are of data and of a parser of arguments. */
const allowedLicences = new Set([
  ...[
    "MIT",
    "MIT-0",
    "ISC",
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BlueOak-1.0.0",
    "Unlicense",
    "CC0-1.0",
  ],
  ...["CC-BY-4.0", "PSF-2.0", "Python-2.0"],
]);

/** Packages whose package.json names no licence, with that of the file LICENSE in them, which somebody has read. */
const licencesInFiles = new Map([["unionfs@4.6.0", "Unlicense"]]);

/** Packages that run a program when they are installed: compilers that look at the machine; scarf's is switched off. */
const knownInstallScripts = new Set(["@swc/core", "esbuild", "protobufjs", "@scarf/scarf"]);

/** Here a package is installed without a lock: a tool of the production suite, by its exact version, without scripts. */
const installsByVersion = new Set(["scripts/postgresql.mjs", "scripts/container-tools.mjs"]);

const checked = (line, details) => ({ outcome: details.length === 0 ? "passed" : "failed", line, details });
const told = (line) => ({ outcome: "told", line, details: [] });

/** The packages of a lock file, as `{ path, name, version, dev, … }`; `path` is where node_modules has them. */
export function packagesOf(lock) {
  return Object.entries(lock.packages).flatMap(([path, locked]) =>
    path === "" ? [] : [{ ...locked, path, name: locked.name ?? path.replace(/^.*node_modules\//, "") }],
  );
}

/** The packages that the service runs with; those that a production package and a tool share are among them. */
export const shippedOf = (lock) => packagesOf(lock).filter(({ dev }) => !dev);

const idOf = ({ name, version }) => `${name}@${version}`;

/**
 * An SBOM of what is shipped, of one of everything. `npm sbom --omit dev` also leaves out what a tool for development
 * needs too, which is most of it.
 */
export function shippedSbom(sbom, lock) {
  const shipped = new Set(shippedOf(lock).map(idOf));
  const components = sbom.components.filter((part) => shipped.has(idOf(part)));
  const kept = new Set([sbom.metadata.component["bom-ref"], ...components.map((part) => part["bom-ref"])]);
  const dependencies = (sbom.dependencies ?? [])
    .filter(({ ref }) => kept.has(ref))
    .map((part) => ({ ...part, dependsOn: (part.dependsOn ?? []).filter((ref) => kept.has(ref)) }));
  return { ...sbom, components, dependencies };
}

/** Every shipped package is in the SBOM, with a hash. */
export function checkSbom(sbom, lock) {
  const listed = new Map(sbom.components.map((part) => [idOf(part), part]));
  const missing = [...new Set(shippedOf(lock).map(idOf))].flatMap((id) => {
    if (!listed.has(id)) return [`${id} is not in it`];
    return listed.get(id).hashes?.length > 0 ? [] : [`${id} has no hash`];
  });
  return checked(`SBOM of ${listed.size} packages`, missing);
}

/** The licences of an SBOM's component, as SPDX expressions. */
export function licencesOf({ licenses = [], ...part }) {
  const named = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? "");
  const read = licencesInFiles.get(idOf(part));
  return named.length === 0 && read !== undefined ? [read] : named;
}

/** Whether all parts of an SPDX expression are allowed, or one of those that it leaves to choose from. */
export function isAllowed(expression) {
  try {
    return isAllowedPart(parseExpression(expression));
  } catch {
    return false;
  }
}

function isAllowedPart({ license, plus, exception, conjunction, left, right }) {
  if (conjunction === "or") return isAllowedPart(left) || isAllowedPart(right);
  if (conjunction === "and") return isAllowedPart(left) && isAllowedPart(right);
  return !plus && exception === undefined && allowedLicences.has(license);
}

export function checkLicences({ components }) {
  const refused = components.flatMap((part) => {
    const licences = licencesOf(part);
    if (licences.length > 0 && licences.every(isAllowed)) return [];
    return [`${idOf(part)}: ${licences.join(", ") || "none is named"}`];
  });
  return checked("licences are those that somebody has allowed", refused);
}

/** The lock file has all that `npm ci` wants: hashes of everything, exact versions, and no host to ask. */
export function checkLock(lock, manifest) {
  const root = lock.packages[""] ?? {};
  const parts = ["dependencies", "devDependencies", "engines"];
  const different = parts.filter((part) => !sameEntries(root[part], manifest[part]));
  const ranges = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  return checked("package-lock.json: exact versions, a hash of each package, no registry's host", [
    ...different.map((part) => `${part} are not those of package.json`),
    ...ranges.filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range)).map(([name, range]) => `${name} is ${range}`),
    ...packagesOf(lock).flatMap(({ path, integrity, resolved }) => [
      ...(/^sha512-/.test(integrity ?? "") ? [] : [`${path} has no hash (sha512)`]),
      ...(resolved === undefined ? [] : [`${path} names where it came from`]),
    ]),
  ]);
}

function sameEntries(some = {}, others = {}) {
  const sorted = (entries) => JSON.stringify(Object.entries(entries).sort());
  return sorted(some) === sorted(others);
}

export function checkInstallScripts(lock) {
  const unknown = packagesOf(lock).filter(
    ({ name, hasInstallScript }) => hasInstallScript && !knownInstallScripts.has(name),
  );
  return checked("only packages that are known run a program when they are installed", unknown.map(idOf));
}

/** `files` are `{ name, text }` of all that installs; each takes what the lock file says, or nothing. */
export function checkInstalls(files) {
  const others = files.flatMap(({ name, text }) =>
    installsByVersion.has(name)
      ? []
      : text
          .split("\n")
          .flatMap((line, index) => (installsAtWill(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [])),
  );
  return checked("packages are installed by npm ci alone", others);
}

/** Comments and what people are told to do are not commands. */
function installsAtWill(line) {
  if (/^\s*(\/\/|#|\*)/.test(line)) return false;
  return /\bnpm",? \[?"?(i|install|add|update|exec)\b|\bnpm (i|install|add|update|exec)\b|\bnpx -|\b(yarn|pnpm) (add|install)\b/.test(
    line,
  );
}

/** `refusing` are the paths of the packages that do not take the lowest Node of `engines`. */
export function checkEngines(refusing, lock, lowestNode) {
  const paths = new Set(refusing);
  const shipped = shippedOf(lock).filter(({ path }) => paths.has(path));
  return checked(
    `all packages run on Node ${lowestNode}, the lowest of engines`,
    shipped.map((part) => `${idOf(part)}: ${part.engines?.node}`),
  );
}

/** The lowest version of a range such as `>=20.19`. */
export function lowestOf(range) {
  const [, major, minor = "0", patch = "0"] = /^>=(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range) ?? [];
  if (major === undefined) throw new Error(`engines.node is no lower limit: ${range}`);
  return `${major}.${minor}.${patch}`;
}

/** What `npm audit --json` found at level high or above; where nobody could be asked that is told, or is `required`. */
export function checkWeaknesses(answer, required) {
  const { metadata, vulnerabilities = {}, message = "no answer", statusCode } = answer;
  if (metadata?.vulnerabilities !== undefined) {
    const grave = Object.values(vulnerabilities).filter(({ severity }) => ["high", "critical"].includes(severity));
    const found = grave.map(({ name, severity }) => `${name}: ${severity}`);
    return checked("no known weakness of level high or above (npm audit)", found);
  }
  const unanswered = noAuditThere(statusCode, message);
  const line = `known weaknesses: ${unanswered ?? `npm audit failed (${message})`}; nobody has looked`;
  return unanswered === undefined || required
    ? checked("npm audit", [line])
    : told(`${line} (SUPPLY_CHAIN_AUDIT=required makes this fail)`);
}

/** Why a registry cannot be asked for known weaknesses at all; undefined where asking it went wrong. */
function noAuditThere(statusCode, message) {
  if ([400, 404, 405, 410, 501].includes(statusCode)) return `the registry has no audit endpoint (${statusCode})`;
  const unreachable = /\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b/.exec(message);
  return unreachable ? `the registry cannot be reached (${unreachable[1]})` : undefined;
}

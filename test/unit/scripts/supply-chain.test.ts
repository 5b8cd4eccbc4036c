import { resolve } from "node:path";
import { expect } from "chai";

const script = resolve(__dirname, "../../../scripts/supply-chain-checks.mjs");

interface Result {
  readonly outcome: "passed" | "failed" | "told";
  readonly line: string;
  readonly details: readonly string[];
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly [more: string]: unknown;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly "bom-ref": string;
  readonly hashes?: readonly object[];
  readonly licenses?: readonly object[];
}

interface Sbom {
  readonly metadata: { readonly component: { readonly "bom-ref": string } };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Checks {
  checkSbom(sbom: Sbom, lock: Lock): Result;
  shippedSbom(sbom: Sbom, lock: Lock): Sbom;
  checkLicences(sbom: Pick<Sbom, "components">): Result;
  checkLock(lock: Lock, manifest: object): Result;
  checkInstallScripts(lock: Lock): Result;
  checkInstalls(files: readonly { readonly name: string; readonly text: string }[]): Result;
  checkEngines(refusing: readonly string[], lock: Lock, lowestNode: string): Result;
  lowestOf(range: string): string;
  checkWeaknesses(answer: object, required: boolean): Result;
}

const integrity = "sha512-abc";
const manifest = { dependencies: { koa: "3.3.0" }, devDependencies: { mocha: "12.0.3" }, engines: { node: ">=20.19" } };
const lock: Lock = {
  packages: {
    "": manifest,
    "node_modules/koa": { version: "3.3.0", integrity, engines: { node: ">= 18" } },
    "node_modules/koa/node_modules/debug": { version: "4.0.0", integrity },
    "node_modules/mocha": { version: "12.0.3", integrity, dev: true },
  },
};

function component(name: string, version: string, licence?: object): Component {
  const hashes = [{ alg: "SHA-512", content: "abc" }];
  return { name, version, "bom-ref": `${name}@${version}`, hashes, licenses: licence ? [licence] : [] };
}

const sbom: Sbom = {
  metadata: { component: { "bom-ref": "us" } },
  components: [component("koa", "3.3.0"), component("debug", "4.0.0"), component("mocha", "12.0.3")],
  dependencies: [
    { ref: "us", dependsOn: ["koa@3.3.0", "mocha@12.0.3"] },
    { ref: "mocha@12.0.3", dependsOn: ["debug@4.0.0"] },
    { ref: "koa@3.3.0", dependsOn: ["debug@4.0.0"] },
  ],
};

describe("npm run supply-chain", () => {
  let checks: Checks;
  before(async () => (checks = (await import(script)) as Checks));

  /** The lock with one package changed. */
  const withKoa = (change: object): Lock => ({
    packages: { ...lock.packages, "node_modules/koa": { ...lock.packages["node_modules/koa"], ...change } },
  });

  it("lists what is shipped, also what a tool for development needs too", () => {
    const shipped = checks.shippedSbom(sbom, lock);
    expect(shipped.components.map(({ name }) => name)).to.deep.equal(["koa", "debug"]);
    expect(shipped.dependencies).to.deep.equal([
      { ref: "us", dependsOn: ["koa@3.3.0"] },
      { ref: "koa@3.3.0", dependsOn: ["debug@4.0.0"] },
    ]);
    expect(checks.checkSbom(shipped, lock)).to.include({ outcome: "passed", line: "SBOM of 2 packages" });
  });

  it("fails for a list that lacks a package or a hash", () => {
    const components = [{ ...component("koa", "3.3.0"), hashes: [] }];
    const { outcome, details } = checks.checkSbom({ ...sbom, components }, lock);
    expect(outcome).to.equal("failed");
    expect(details).to.deep.equal(["koa@3.3.0 has no hash", "debug@4.0.0 is not in it"]);
  });

  for (const [what, licence, expected] of [
    ["an allowed licence", { license: { id: "MIT" } }, "passed"],
    ["a choice of which one is allowed", { expression: "(GPL-3.0-only OR Apache-2.0)" }, "passed"],
    ["both of two that are allowed", { expression: "MIT AND CC-BY-4.0" }, "passed"],
    ["two of which one is not allowed", { expression: "(MIT AND GPL-3.0-only)" }, "failed"],
    [
      "a choice inside of which neither is allowed",
      { expression: "(MIT OR GPL-3.0-only) AND (GPL-3.0-only OR AGPL-3.0-only)" },
      "failed",
    ],
    ["another licence", { license: { id: "AGPL-3.0-only" } }, "failed"],
    ["words that are no licence", { license: { name: "SEE LICENSE IN README" } }, "failed"],
    ["none", undefined, "failed"],
  ] as const)
    it(`${expected === "passed" ? "allows" : "refuses"} ${what}`, () => {
      const { outcome, details } = checks.checkLicences({ components: [component("koa", "3.3.0", licence)] });
      expect(outcome).to.equal(expected);
      if (expected === "failed") expect(details[0]).to.match(/^koa@3\.3\.0: /);
    });

  it("takes a lock file with hashes, exact versions and no host", () => {
    expect(checks.checkLock(lock, manifest)).to.deep.include({ outcome: "passed", details: [] });
  });

  for (const [what, broken, told] of [
    ["without a hash", { integrity: undefined }, /node_modules\/koa has no hash/],
    ["with a weak hash", { integrity: "sha1-abc" }, /node_modules\/koa has no hash/],
    ["that names a host", { resolved: "https://example.com/koa.tgz" }, /node_modules\/koa names where it came from/],
  ] as const)
    it(`refuses a locked package ${what}`, () => {
      const { outcome, details } = checks.checkLock(withKoa(broken), manifest);
      expect(outcome).to.equal("failed");
      expect(details).to.have.length(1);
      expect(details[0]).to.match(told);
    });

  it("refuses a range of versions, and a lock that is not of this package.json", () => {
    const { details } = checks.checkLock(lock, { ...manifest, dependencies: { koa: "^3.3.0" } });
    expect(details).to.deep.equal(["dependencies are not those of package.json", "koa is ^3.3.0"]);
  });

  it("refuses a package that runs a program when it is installed, unless it is known", () => {
    expect(checks.checkInstallScripts(lock).outcome).to.equal("passed");
    const { outcome, details } = checks.checkInstallScripts(withKoa({ hasInstallScript: true }));
    expect([outcome, details]).to.deep.equal(["failed", ["koa@3.3.0"]]);
    expect(checks.checkInstallScripts(withKoa({ hasInstallScript: true, name: "esbuild" })).outcome).to.equal("passed");
  });

  it("refuses every way to install but npm ci", () => {
    const text = [
      "RUN npm ci",
      "# npm install explains",
      "RUN npm install -g tool",
      "npx --yes tool",
      'run("npm", ["i"',
    ];
    const { outcome, details } = checks.checkInstalls([{ name: "Dockerfile", text: text.join("\n") }]);
    expect(outcome).to.equal("failed");
    expect(details).to.deep.equal([
      "Dockerfile:3: RUN npm install -g tool",
      "Dockerfile:4: npx --yes tool",
      'Dockerfile:5: run("npm", ["i"',
    ]);
  });

  it("refuses a shipped package that the lowest Node is too old for, not a tool", () => {
    const { outcome, details } = checks.checkEngines(["node_modules/koa", "node_modules/mocha"], lock, "17.0.0");
    expect([outcome, details]).to.deep.equal(["failed", ["koa@3.3.0: >= 18"]]);
    expect(checks.checkEngines(["node_modules/mocha"], lock, "17.0.0").outcome).to.equal("passed");
    expect([">=20.19", ">=22"].map((range) => checks.lowestOf(range))).to.deep.equal(["20.19.0", "22.0.0"]);
    expect(() => checks.lowestOf("^20")).to.throw("^20");
  });

  describe("for known weaknesses", () => {
    const found = (severity: string) => ({
      metadata: { vulnerabilities: {} },
      vulnerabilities: { koa: { name: "koa", severity } },
    });
    const absent = { message: "405 Method Not Allowed - POST", statusCode: 405 };
    const offline = { message: "request failed, reason: connect ECONNREFUSED 127.0.0.1:1" };

    it("passes without any and with those of lower levels, and fails from high on", () => {
      const outcome = (severity: string) => checks.checkWeaknesses(found(severity), false).outcome;
      expect(["low", "moderate", "high", "critical"].map(outcome)).to.deep.equal([
        "passed",
        "passed",
        "failed",
        "failed",
      ]);
      expect(checks.checkWeaknesses(found("high"), false).details).to.deep.equal(["koa: high"]);
    });

    it("tells in a line, not as a test, that a registry cannot be asked", () => {
      for (const [answer, why] of [
        [absent, "no audit endpoint (405)"],
        [{ ...absent, statusCode: 404 }, "no audit endpoint (404)"],
        [offline, "cannot be reached (ECONNREFUSED)"],
      ] as const) {
        const { outcome, line, details } = checks.checkWeaknesses(answer, false);
        expect([outcome, details]).to.deep.equal(["told", []]);
        expect(line).to.contain(why).and.contain("nobody has looked");
      }
    });

    it("fails for the same where the audit is required", () => {
      for (const answer of [absent, offline]) expect(checks.checkWeaknesses(answer, true).outcome).to.equal("failed");
      expect(checks.checkWeaknesses(found("low"), true).outcome).to.equal("passed");
    });

    it("fails where asking went wrong in another way, required or not", () => {
      for (const answer of [{}, { message: "500 Internal Server Error", statusCode: 500 }, { message: "EJSONPARSE" }])
        expect(checks.checkWeaknesses(answer, false).outcome).to.equal("failed");
    });
  });
});

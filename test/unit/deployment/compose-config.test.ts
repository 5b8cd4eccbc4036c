import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import { readConfig } from "../../../src/config";
import { exampleSettings } from "../../support/compose-services";

const root = resolve(__dirname, "../../..");

interface Project {
  readonly services: Readonly<
    Record<string, { readonly scale?: number; readonly deploy?: { readonly replicas?: number } } | undefined>
  >;
}

describe("docker-compose.yml, loaded as `docker compose config -q` does", function () {
  // The first time Go builds the loader.
  this.timeout(600_000);
  let loader: string;
  let folder: string;

  before(async () => {
    const config = readConfig({ XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"], HOME: process.env["HOME"] });
    if (E.isLeft(config)) throw new Error(config.left.join(" "));
    const { composeConfig } = (await import(join(root, "scripts/compose-config.mjs"))) as {
      composeConfig: (cacheDir: string, told: { say: (line: string) => void }) => Promise<string>;
    };
    loader = await composeConfig(config.right.cacheDir, { say: (line) => process.stderr.write(`${line}\n`) });
    folder = mkdtempSync(join(tmpdir(), "ums-compose-"));
    mkdirSync(join(folder, "config/temporal"), { recursive: true });
    copyFileSync(join(root, "config/temporal/server.env"), join(folder, "config/temporal/server.env"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Loads a file with the settings of a `.env` and nothing else of this machine's environment. */
  function load(settings: string, profiles = "", compose = readFileSync(join(root, "docker-compose.yml"), "utf8")) {
    writeFileSync(join(folder, "docker-compose.yml"), compose);
    writeFileSync(join(folder, ".env"), settings);
    const { PATH, HOME } = process.env;
    const { status, stdout, stderr } = spawnSync(loader, {
      cwd: folder,
      encoding: "utf8",
      env: { PATH, HOME, COMPOSE_PROFILES: profiles },
    });
    return { status, said: stderr, project: () => JSON.parse(stdout) as Project };
  }

  for (const profile of ["", "simulator"])
    it(`loads without a warning${profile && `, with the profile ${profile}`}`, () => {
      const { status, said, project } = load("", profile);
      expect({ status, said }).to.deep.equal({ status: 0, said: "" });
      expect("simulator" in project().services).to.equal(profile === "simulator");
    });

  it("loads without a warning with each setting that example.env has, and with all of them", () => {
    const example = exampleSettings();
    expect(example.size).to.be.greaterThan(30);
    for (const [name, line] of [...example, ["all", [...example.values()].join("\n")] as const]) {
      const { status, said } = load(line, "simulator");
      expect({ status, said }, name).to.deep.equal({ status: 0, said: "" });
    }
  });

  it("has as many workers as WORKERS says, and two by itself", () => {
    expect(load("").project().services["worker"]?.deploy?.replicas).to.equal(2);
    expect(load("WORKERS=4").project().services["worker"]?.deploy?.replicas).to.equal(4);
  });

  it("would be told of a limit that is set twice, of a field that there is not, and of a variable without a value", () => {
    const compose = readFileSync(join(root, "docker-compose.yml"), "utf8");
    const twice = load(
      "",
      "",
      compose.replace("    image: temporalio/ui", "    pids_limit: 99\n    image: temporalio/ui"),
    );
    expect(twice.status).to.equal(1);
    expect(twice.said).to.contain("can't set distinct values on 'pids_limit' and 'deploy.resources.limits.pids'");
    const misspelt = load("", "", compose.replace("    stop_signal:", "    stop_signall:"));
    expect(misspelt.status).to.equal(1);
    expect(misspelt.said).to.contain("stop_signall");
    expect(load("", "", compose.replace("${LOG_LEVEL:-info}", "${LOG_LEVEL}")).said).to.contain("LOG_LEVEL");
  });
});

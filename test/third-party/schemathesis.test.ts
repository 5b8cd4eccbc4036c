import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { hashPassword } from "../../src/authentication/password-hash";
import type { TokenPair } from "../../src/api/token-issuer";
import { ServiceUnderTest } from "../system/service-under-test";

const run = promisify(execFile);
const settings = join(__dirname, "schemathesis/schemathesis.toml");

// One seed, so that a run that fails can be had again; the time is a bound, which slow machines reach earlier.
const [seed, seconds] = [20261, 75];

describe("the service against its own /openapi.json, by Schemathesis", function () {
  this.timeout(240_000);
  let service: ServiceUnderTest | undefined;
  const folder = mkdtempSync(join(tmpdir(), "schemathesis-"));

  afterEach(() => service?.discard());
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** What Schemathesis prints where it finds something; the empty text where it does not. */
  async function findings(url: string, token: string): Promise<string> {
    const packages = process.env["SCHEMATHESIS"];
    if (!packages)
      throw new Error("SCHEMATHESIS is not set: run `npm run test:third-party`, which installs it and sets that.");
    const header = `Authorization: Bearer ${token}`;
    const bounds = ["--seed", String(seed), "--max-time", String(seconds), "--request-timeout", "20"];
    const args = [
      "-m",
      "schemathesis.cli",
      "--config-file",
      settings,
      "run",
      `${url}/openapi.json`,
      "--checks",
      "all",
      ...bounds,
    ];
    const env = {
      ...process.env,
      PYTHONPATH: packages,
      PYTHONDONTWRITEBYTECODE: "1",
      SCHEMATHESIS_HOOKS: join(__dirname, "schemathesis/hooks.py"),
      NO_COLOR: "1",
    };
    try {
      await run("python3", [...args, "-H", header], { cwd: folder, env, timeout: 200_000, maxBuffer: 2 ** 26 });
      return "";
    } catch (error) {
      const { stdout = "", stderr = String(error) } = error as { readonly stdout?: string; readonly stderr?: string };
      return stdout + stderr;
    }
  }

  it("finds nothing with AUTH_MODE=dev, as npm start begins", async () => {
    service = await ServiceUnderTest.start();
    expect(await findings(service.apiUrl, "dev")).to.equal("");
  });

  it("finds nothing with AUTH_MODE=local and a token, without which nothing is had", async () => {
    const password = "correct horse battery staple";
    const files = { users: join(folder, "users.yaml"), key: join(folder, "key.txt"), revoked: join(folder, "revoked") };
    writeFileSync(
      files.users,
      `users:\n  - username: admin\n    role: ADMIN\n    password: ${await hashPassword(password)}\n`,
      { mode: 0o600 },
    );
    writeFileSync(files.key, "k".repeat(64), { mode: 0o600 });
    service = await ServiceUnderTest.start({
      AUTH_MODE: "local",
      AUTH_USERS_FILE: files.users,
      AUTH_SIGNING_KEY_FILE: files.key,
      AUTH_REVOKED_DIR: files.revoked,
    });
    const { body } = await service.post<TokenPair>("/v1/tokens", { username: "admin", password });
    expect(await findings(service.apiUrl, body.accessToken)).to.equal("");
  });
});
